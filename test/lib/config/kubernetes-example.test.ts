import { readFileSync } from 'node:fs'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { KNOWN_NAMES, variable } from '../../../lib/config/variables.js'
import { DATABASE_KEYS } from '../../../scripts/database.js'
import { load, loadCommand } from './load-with.js'

interface Variable {
  name: string
  value?: string
  valueFrom?: { secretKeyRef: { name: string, key: string } }
}
interface Container {
  image: string
  env: Variable[]
  command?: string[]
  securityContext?: object
  resources: { requests: object, limits: object }
  volumeMounts: Array<{ name: string, mountPath: string }>
  startupProbe?: Probe
  livenessProbe?: Probe
  readinessProbe?: Probe
  ports?: Array<{ containerPort: number, name: string }>
}
interface Probe { httpGet: { path: string, port: number } }
interface PodSpec {
  securityContext?: object
  terminationGracePeriodSeconds?: number
  containers: [Container]
  volumes: Array<{ name: string, configMap?: { name: string } }>
}
interface Manifest {
  kind: string
  metadata: { name: string, namespace?: string }
  stringData?: Record<string, string>
  data?: Record<string, string>
  spec?: { template: { metadata: { labels: Record<string, string> }, spec: PodSpec }, selector?: unknown }
}

function read (name: string): { text: string, manifests: Manifest[] } {
  const text = readFileSync(new URL(`../../../examples/${name}`, import.meta.url), 'utf8')
  return { text, manifests: parseAllDocuments(text).map((document) => document.toJS() as Manifest) }
}

const gatewayFile = read('kubernetes.yaml')
const databaseFile = read('kubernetes-postgres.yaml')
const one = (kind: string, manifests = gatewayFile.manifests) => manifests.find((manifest) => manifest.kind === kind)!
const podOf = (kind: string) => one(kind).spec!.template.spec
const pods = { migrate: podOf('Job'), gateway: podOf('Deployment') }

/** The variables of the container, with what the Secret has for them. */
function environmentOf ({ env }: Container, secret: Manifest): Record<string, string> {
  return Object.fromEntries(env.map(({ name, value, valueFrom }) => [
    name, value ?? secret.stringData?.[valueFrom!.secretKeyRef.key] ?? 'missing',
  ]))
}

t.test('the variables of the pods in kubernetes.yaml are known and can be loaded', async (t) => {
  const files = {
    '/etc/memory-gateway/gateway.yaml': one('ConfigMap').data!['gateway.yaml']!, '/run/.containerenv': '',
  }
  const [migrateEnv, gatewayEnv] = [pods.migrate, pods.gateway].map(
    ({ containers: [container] }) => ({ SERVICES_HOST: '0.0.0.0', ...environmentOf(container, one('Secret')) }),
  )
  for (const env of [migrateEnv!, gatewayEnv!]) {
    t.same(Object.keys(env).filter((name) => !KNOWN_NAMES.includes(name)), [])
  }
  const migrate = loadCommand(migrateEnv!, { keys: DATABASE_KEYS, migrates: true }, files)
  const gateway = load(gatewayEnv!, files)
  t.same(gateway.warnings, [])
  for (const { file } of [migrate, gateway]) {
    t.match(file, { vector_store: 'postgres', vector_store_config: { bootstrap_schema: false } })
  }
  t.match(gateway.auth, { mode: 'api_key', apiKey: /change-me/ })

  // The database beside it has the same roles, passwords and name.
  const passwords = one('Secret', databaseFile.manifests).stringData!
  const host = one('Service', databaseFile.manifests).metadata.name
  t.equal(migrate.database.migrateUrl, `postgres://memory_owner:${passwords['owner-password']}@${host}:5432/memory`)
  t.equal(gateway.database.url, `postgres://memory_server:${passwords['server-password']}@${host}:5432/memory`)
})

t.test('the pods of kubernetes.yaml have no rights that they do not use, and are bounded', async (t) => {
  for (const [name, { securityContext, containers: [container] }] of Object.entries(pods)) {
    t.match(securityContext, { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } }, name)
    t.strictSame(
      container.securityContext,
      { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }, name,
    )
    t.match(container.resources, { requests: { cpu: String, memory: String }, limits: { memory: String } }, name)
  }
})

t.test('the probes check liveness and readiness, and the grace period exceeds that of requests', async (t) => {
  const { containers: [container], terminationGracePeriodSeconds: grace } = pods.gateway
  const paths = { startupProbe: '/live', livenessProbe: '/live', readinessProbe: '/health' } as const
  const port = Number(variable('SERVICES_PORT').default)
  for (const name of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
    t.strictSame(container[name]?.httpGet, { path: paths[name], port }, name)
  }
  t.match(container.ports, [{ name: 'http', containerPort: port }])
  const { SERVICES_SHUTDOWN_TIMEOUT_MS: timeout } = environmentOf(container, one('Secret'))
  t.ok(grace! * 1000 > Number(timeout) + 5000)
})

t.test('everything that the manifests refer to exists, and they define no namespace', async (t) => {
  for (const { text, manifests } of [gatewayFile, databaseFile]) {
    const names = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)
      .map(({ metadata }) => metadata.name)
    for (const { metadata, spec } of manifests) {
      t.equal(metadata.namespace, undefined)
      const pod = spec?.template?.spec
      for (const { configMap } of pod?.volumes ?? []) {
        t.ok(configMap === undefined || names('ConfigMap').includes(configMap.name))
      }
      for (const { name } of pod?.containers[0].volumeMounts ?? []) {
        t.ok(pod?.volumes.some((volume) => volume.name === name), name)
      }
      for (const { name, valueFrom } of pod?.containers[0].env ?? []) {
        if (valueFrom === undefined) continue
        t.ok(names('Secret').includes(valueFrom.secretKeyRef.name), name)
        t.ok(Object.hasOwn(one('Secret', manifests).stringData!, valueFrom.secretKeyRef.key), name)
      }
    }
    t.match(text, /^# Change first: /m)
  }
  // What the Service sends requests to is the gateway alone.
  t.notSame(one('Job').spec!.template.metadata.labels, one('Deployment').spec!.template.metadata.labels)
})
