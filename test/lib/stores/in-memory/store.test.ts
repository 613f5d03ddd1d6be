import { InMemoryVectorStore } from '../../../../lib/stores/in-memory/store.js'
import { vectorStoreContract } from '../../../contract/vector-store.js'

vectorStoreContract('InMemoryVectorStore', async () => new InMemoryVectorStore())
