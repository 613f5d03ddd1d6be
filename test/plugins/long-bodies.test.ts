import t from 'tap'
import { head, listening } from '../helpers/byte-by-byte.js'

await t.test('a long body is read completely, in whatever pieces it arrives and whatever else runs', async (t) => {
  const { open } = await listening(t)
  const body = JSON.stringify({
    bank_id: 'b', content: 'The ferry leaves at nine.', metadata: { note: 'x'.repeat(200) },
  }).padEnd(300_000)
  const whole = await open()
  whole.socket.write(`${head('/v1/retain', `Connection: close\r\nContent-Length: ${body.length}`)}${body}`)
  t.match(await whole.answer, /^HTTP\/1\.1 200 /)
  const pieces = await open()
  pieces.socket.write(head('/v1/retain', 'Connection: close\r\nTransfer-Encoding: chunked'))
  for (let from = 0; from < body.length; from += 30_000) {
    pieces.socket.write(`7530\r\n${body.slice(from, from + 30_000)}\r\n`)
  }
  pieces.socket.write('0\r\n\r\n')
  t.match(await pieces.answer, /^HTTP\/1\.1 200 /)
  const all = await Promise.all(Array.from({ length: 20 }, async (_, index) => {
    const { socket, answer } = await open()
    const other = body.replace('nine', `nine and ${index}`)
    socket.write(`${head('/v1/retain', `Connection: close\r\nContent-Length: ${other.length}`)}${other}`)
    return (await answer).slice(0, 12)
  }))
  t.strictSame(new Set(all), new Set(['HTTP/1.1 200']))
})
