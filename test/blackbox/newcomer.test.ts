import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { execFile } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { startServer } from '../helpers/server.js'
import { readPage } from './documented.js'

const ROOT = process.cwd()
const README = readPage('README.md')
const LOOPBACK = 'http://127.0.0.1:8080'
const run = promisify(execFile)

/** A block of code under a heading of the README. */
function block (heading: string, language: string): string {
  const [, code] = new RegExp(`## ${heading}\\n[^]*?\`\`\`${language}\\n([^]*?)\`\`\``).exec(README) ?? []
  if (code === undefined) throw new Error(`The README has no ${language} under "${heading}"`)
  return code
}

/** A folder in which programs find what a clone has installed. */
function folderOf (t: Test): string {
  const folder = t.testdir({ bin: {}, home: {} })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  symlinkSync(join(ROOT, 'dist/cli/main.js'), join(folder, 'bin/memory-gateway'))
  return folder
}

t.test('the agent in TypeScript remembers', async (t) => {
  const { url } = await startServer(t)
  const folder = folderOf(t)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'agent.ts'), block('An agent in TypeScript', 'ts').replace(LOOPBACK, url))
  const { stdout } = await run(
    process.execPath, [join(ROOT, 'node_modules/tsx/dist/cli.mjs'), 'agent.ts'], { cwd: folder },
  )
  t.match(stdout, /^Known about the user:\n- I am allergic to peanuts\.\n\nMessage: May I eat this peanut bar\?\n$/)
})

t.test('the servers of the MCP configuration retain and recall', async (t) => {
  const { url } = await startServer(t)
  const folder = folderOf(t)
  const { memory, notes } = JSON.parse(block('Agents that speak MCP', 'json').replace(LOOPBACK, url)).mcpServers
  t.equal(notes.command, 'npx')
  const [name, ...args] = notes.args
  const transports = {
    memory: new StreamableHTTPClientTransport(new URL(memory.url), { requestInit: { headers: memory.headers } }),
    notes: new StdioClientTransport({
      command: process.execPath,
      args: [
        join(folder, 'bin', name), ...args,
      ],
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '' },
    }),
  }
  for (const [name, transport] of Object.entries(transports)) {
    const client = new Client({ name: 'newcomer', version: '1.0.0' })
    await client.connect(transport)
    t.teardown(async () => { await client.close() })
    const { tools } = await client.listTools()
    t.same(tools.map((tool) => tool.name).sort(), [
      'accept_proposal', 'append_messages', 'dismiss_proposal', 'forget', 'list_messages', 'list_proposals',
      'list_versions', 'patch_memory', 'recall', 'reflect', 'restore_memory', 'retain', 'retire_memory',
    ], name)
    await client.callTool({ name: 'retain', arguments: { content: 'Ada drinks tea in the morning.' } })
    const { structuredContent } = await client.callTool({
      name: 'recall', arguments: { query: 'What does Ada drink?' },
    })
    t.match(structuredContent, { memories: [{ text: 'Ada drinks tea in the morning.' }] }, name)
  }
})

t.test('the shell commands store, find and export memories', async (t) => {
  const { url } = await startServer(t)
  const folder = folderOf(t)
  const { stdout } = await run('bash', [
    '-e', '-c', block('From a shell', 'sh').replaceAll('npx memory-gateway', 'memory-gateway'),
  ], {
    cwd: folder,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`, HOME: join(folder, 'home'), MEMORY_GATEWAY_URL: url,
    },
  })
  t.match(stdout, 'Ada cycles to work.')
  t.match((await run('cat', ['ada.ndjson'], { cwd: folder })).stdout, '"Ada cycles to work."')
})
