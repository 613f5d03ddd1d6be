/** One event of a stream, its data parsed. */
export interface ServerEvent {
  event: string
  data: unknown
}

/** Reads server-sent events as the gateway sends them: each has a name and one JSON value. Comments are passed over. */
export async function * readEvents (bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of bytes) {
    const blocks = `${rest}${decoder.decode(chunk, { stream: true })}`.replaceAll('\r\n', '\n').split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = parseBlock(block)
      if (event !== undefined) yield event
    }
  }
}

function parseBlock (block: string): ServerEvent | undefined {
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) event = line.slice('event:'.length).trim()
    else if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''))
  }
  return data.length === 0 ? undefined : { event, data: JSON.parse(data.join('\n')) }
}
