import { numberOf, textOf, type Answer } from '../answers.js'
import { columns, note, writeJson, writeLine } from '../output.js'
import { withServer, type ServerOptions } from '../server-command.js'

/** Banks that one request lists. */
const PAGE = 200

export async function banks (options: ServerOptions): Promise<void> {
  await withServer(options, async (gateway, call) => {
    const found: Answer[] = []
    for await (const bank of gateway.listBanks({ limit: PAGE }, call)) found.push(bank)
    if (options.json === true) return await writeJson({ banks: found })
    if (found.length === 0) return note('there is no bank that you may read')
    const rows = found.map((bank) => [
      textOf(bank['bank_id']) ?? '', String(numberOf(bank['memory_count']) ?? ''),
      textOf(bank['last_retained_at']) ?? 'empty',
    ])
    for (const line of columns([['BANK', 'MEMORIES', 'LAST RETAINED'], ...rows])) await writeLine(line)
  })
}
