import { holdHangups } from './cli/hangup.js'

// The server's modules take about a second to load, in which SIGHUP would end the process.
holdHangups()
const { serve } = await import('./cli/serve.js')
await serve()
