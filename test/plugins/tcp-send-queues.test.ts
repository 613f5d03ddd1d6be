import t from 'tap'
import { connectionKey, parseSendQueues } from '../../plugins/tcp-send-queues.js'

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
const REST = '00:00000000 00000000  1000        0 12345 1 0000000000000000 20 4 30 10 -1'
const row = (local: string, remote: string, waiting: string) => (
  `   0: ${local} ${remote} 01 ${waiting}:00000000 ${REST}`
)

await t.test('the waiting bytes are found by the addresses and ports of a connection', async (t) => {
  const tables = [
    [
      HEAD, row('0100007F:1F90', '0A02A8C0:C001', '00010000'), row('0100007F:1F90', '0A02A8C0:C002', '00000000'), '',
    ].join('\n'),
    [
      HEAD,
      row('0000000000000000FFFF00000100007F:1F90', '0000000000000000FFFF00000B02A8C0:C003', '00000003'),
      row('B80D0120000000000000000001000000:1F90', 'B80D01200000000000000000FECA0000:C004', '00000004'),
    ].join('\n'),
  ]
  const found = await parseSendQueues(tables)
  const of = (localAddress: string, remoteAddress: string, remotePort: number) =>
    found.get(connectionKey({ localAddress, localPort: 8080, remoteAddress, remotePort }))
  t.equal(found.size, 3)
  t.equal(of('127.0.0.1', '192.168.2.10', 0xc001), 65_536)
  t.equal(of('127.0.0.1', '192.168.2.10', 0xc002), undefined, 'nothing waits')
  t.equal(of('127.0.0.1', '192.168.2.11', 0xc001), undefined, 'another client')
  t.equal(of('::ffff:127.0.0.1', '::ffff:192.168.2.11', 0xc003), 3)
  t.equal(of('2001:db8::1', '2001:db8::cafe', 0xc004), 4)
})
