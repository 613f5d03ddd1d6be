// The thread of text-thread.ts. It is plain JavaScript, because a thread loads this file both beside the sources and in
// dist/.
export { runTextJob as default } from './text-jobs.js'
