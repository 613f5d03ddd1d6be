import { packageVersion } from '../../lib/base/package-file.js'
import { runMcpStdio } from '../../mcp/stdio.js'
import { checkedConfig } from '../config/check.js'
import { applyConfigOption, applyNamedEnvFile, type ConfigOptions } from '../configuration.js'
import { readConnection, readPrincipal } from '../connection.js'
import { untilInterrupted } from '../interrupt.js'

interface McpCommandOptions extends ConfigOptions {
  data?: string
  bank?: string
  profile?: string
}

/**
 * Serves MCP from the store of the given folder or configuration, if any; else as a proxy of a server. An editor starts
 * it in the folder that is open there, whose `.env` is not read: the author of that folder could load code with it or
 * redirect credentials.
 */
export async function mcp ({ data, bank, profile, ...options }: McpCommandOptions): Promise<void> {
  applyConfigOption(options)
  applyNamedEnvFile(options)
  const isEmbedded = data !== undefined || options.config !== undefined
  await untilInterrupted(async (signal) => {
    const common = { version: packageVersion(), bankId: bank, signal }
    if (isEmbedded) {
      const config = checkedConfig(process.env, { dataFolder: data })
      await runMcpStdio({ ...common, source: 'embedded', config, principal: readPrincipal(process.env) })
    } else {
      await runMcpStdio({ ...common, source: 'server', server: readConnection(process.env, profile) })
    }
  })
}
