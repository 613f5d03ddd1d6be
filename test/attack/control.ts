import { createServer } from 'node:http'

/*
 * An idle server: what the prober waits for it, it waits for the machine. Listens on the port of the environment
 * variable PORT.
 */

createServer((_request, response) => { response.end('{"status":"ok"}') }).listen(Number(process.env['PORT']), '127.0.0.1')
