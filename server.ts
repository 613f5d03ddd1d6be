import { serve } from './cli/serve.js'

await serve()
