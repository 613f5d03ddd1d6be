import { createServer } from 'node:http'

/*
 * An idle server, whose delays show the delays of the machine. It listens on the port of the environment variable PORT.
 */

createServer((_request, response) => { response.end('{"status":"ok"}') }).listen(
  Number(process.env['PORT']), '127.0.0.1',
)
