import { parseArgs } from 'node:util'
import { UnusableInput } from '../checker.js'
import { chooseTool, type LoadToolName } from './load-tool.js'
import { ROUTES, type Route } from './workloads.js'

export const USAGE = `npm run bench:http -- [options]
  --duration SECONDS     of one cell; default 5
  --connections LIST     default 1,16,64
  --only LIST            of ${ROUTES.join(', ')}, overhead; default: all
  --tool wrk|autocannon  default: wrk when it is installed, else autocannon
  --json FILE            also writes the figures there`

export interface Options {
  seconds: number
  connections: number[]
  routes: Route[]
  overhead: boolean
  tool: LoadToolName
  json: string | undefined
}

/** @throws UnusableInput for a value that cannot be used; parseArgs itself throws for an unknown option */
export function readOptions (args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      duration: { type: 'string', default: '5' },
      connections: { type: 'string', default: '1,16,64' },
      only: { type: 'string', default: [...ROUTES, 'overhead'].join(',') },
      tool: { type: 'string', default: chooseTool() },
      json: { type: 'string' },
    },
  })
  const only = new Set(values.only.split(',').map((name) => name.trim()))
  const overhead = only.delete('overhead')
  const routes = ROUTES.filter((route) => only.delete(route))
  if (only.size > 0) {
    throw new UnusableInput(`--only: ${[...only].join(', ')} is not known; known are ${ROUTES.join(', ')} and overhead`)
  }
  if (values.tool !== 'wrk' && values.tool !== 'autocannon') {
    throw new UnusableInput(`--tool: found ${values.tool}, allowed are wrk and autocannon`)
  }
  return {
    seconds: wholeNumber('--duration', values.duration),
    connections: values.connections.split(',').map((text) => wholeNumber('--connections', text.trim())),
    routes,
    overhead,
    tool: values.tool,
    json: values.json,
  }
}

function wholeNumber (option: string, text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) {
    throw new UnusableInput(`${option}: found ${JSON.stringify(text)}, allowed are whole numbers from 1 to 9999`)
  }
  return Number(text)
}
