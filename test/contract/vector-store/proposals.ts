import type { Test } from 'tap'
import type { Proposal, ProposalStore } from '../../../lib/stores/proposals.js'
import { memoryOf, type VectorStore } from '../../../lib/stores/vector-store.js'
import { newId, newMemory, NOW } from '../../helpers/memories.js'
import { bank, REMOVE, type OpenStore } from './setup.js'

const home = bank('home')

function proposalOf (memoryId: string, maySupersede: string, fields: Partial<Proposal> = {}): Proposal {
  return {
    proposalId: newId(),
    memoryId,
    maySupersede,
    because: 'value',
    createdAt: NOW,
    state: 'open',
    decidedAt: null,
    decidedBy: null,
    ...fields,
  }
}

/** A store with two memories and their proposals; undefined where the store has none. */
async function openProposals (
  t: Test, open: OpenStore,
): Promise<{ store: VectorStore, proposals: ProposalStore, ids: string[] } | undefined> {
  const store = await open(t)
  if (store.proposals === undefined) {
    t.pass('the store has no proposals')
    return undefined
  }
  const memories = [await newMemory('Rome'), await newMemory('Milan'), await newMemory('Turin')]
  await store.insert(home, memories, { now: NOW })
  return { store, proposals: store.proposals, ids: memories.map(({ memoryId }) => memoryId) }
}

export function proposalsContract (t: Test, open: OpenStore): void {
  t.test('proposals are listed newest first, once for two memories, and in their bank alone', async (t) => {
    const opened = await openProposals(t, open)
    if (opened === undefined) return
    const { proposals, ids: [rome, milan, turin] } = opened
    const [first, second] = [proposalOf(milan!, rome!), proposalOf(turin!, milan!)]
    await proposals.add(home, [first, second])
    await proposals.add(home, [proposalOf(milan!, rome!)])
    await proposals.add(home, [])
    const page = { state: 'open', now: NOW, limit: 9 } as const
    t.strictSame(await proposals.list(home, page), [second, first])
    t.strictSame(await proposals.list(home, { ...page, limit: 1 }), [second])
    t.strictSame(await proposals.list(home, { ...page, after: second.proposalId }), [first])
    t.strictSame(await proposals.get(home, first.proposalId, NOW), first)
    t.equal(await proposals.get(home, newId(), NOW), undefined)
    for (const other of [bank('other'), bank('home', 'acme')]) {
      t.same(await proposals.list(other, page), [])
      t.equal(await proposals.get(other, first.proposalId, NOW), undefined)
    }
  })

  t.test('a decision is made in one state, and only once', async (t) => {
    const opened = await openProposals(t, open)
    if (opened === undefined) return
    const { proposals, ids: [rome, milan] } = opened
    const proposal = proposalOf(milan!, rome!)
    await proposals.add(home, [proposal])
    const decision = { state: 'dismissed', decidedAt: NOW + 1, decidedBy: 'user:ada' } as const
    const decide = async () => await proposals.decide(home, proposal.proposalId, 'open', decision)
    t.same((await Promise.all([decide(), decide()])).sort(), [false, true])
    t.strictSame(await proposals.get(home, proposal.proposalId, NOW), { ...proposal, ...decision })
    t.same(await proposals.list(home, { state: 'open', now: NOW, limit: 9 }), [])
    t.equal((await proposals.list(home, { state: 'dismissed', now: NOW, limit: 9 })).length, 1)
  })

  t.test('a proposal is open while both memories are current, and there while both are', async (t) => {
    const opened = await openProposals(t, open)
    if (opened === undefined) return
    const { store, proposals, ids: [rome, milan, turin] } = opened
    await proposals.add(home, [proposalOf(milan!, rome!), proposalOf(turin!, milan!, { state: 'accepted' })])
    const count = async (state: Proposal['state']) => (await proposals.list(home, { state, now: NOW, limit: 9 })).length
    const memory = (await store.get(home, rome!, NOW))!
    await store.revise!(home, [{
      memory: { ...memoryOf(memory), version: 2, state: 'retired' }, fingerprint: newId(),
    }], { now: NOW })
    t.same([await count('open'), await count('accepted')], [0, 1])
    await store.remove(home, { kind: 'ids', memoryIds: [turin!] }, REMOVE)
    t.same(await count('accepted'), 0)
  })
  t.test('an open proposal goes with the text of either memory, a decided one stays', async (t) => {
    const opened = await openProposals(t, open)
    if (opened === undefined) return
    const { store, proposals, ids: [rome, milan, turin] } = opened
    await proposals.add(home, [
      proposalOf(milan!, rome!), proposalOf(turin!, milan!), proposalOf(turin!, rome!),
      proposalOf(milan!, turin!, { state: 'dismissed' }),
    ])
    const left = async (state: Proposal['state']) => (
      (await proposals.list(home, { state, now: NOW, limit: 9 })).map(({ memoryId, maySupersede }) => (
        [memoryId, maySupersede]
      ))
    )
    const { passages, fingerprint, ...memory } = await newMemory('Naples', { memoryId: milan!, version: 2 })
    await store.revise!(home, [{ memory: { ...memory, tags: ['a'], version: 2 }, fingerprint }], { now: NOW })
    t.equal((await left('open')).length, 3)
    await store.revise!(home, [{ memory: { ...memory, version: 3 }, fingerprint, passages }], { now: NOW })
    t.same([await left('open'), await left('dismissed')], [[[turin, rome]], [[milan, turin]]])
  })
}
