import { BarriersSchema, HomeostasisSchema, ReflectSchema, SignalQualitySchema } from './bank-schema.js'
import { RetrievalSchema } from './retrieval-schema.js'
import { type Resolved, withDefaults } from '../validation/defaults.js'

type ResolvedRetrieval = Resolved<typeof RetrievalSchema>

/** The sections that apply to a bank, in the words of the configuration, with every default filled in. */
export interface BankSections {
  homeostasis: Resolved<typeof HomeostasisSchema>
  barriers: Resolved<typeof BarriersSchema>
  signal_quality: Resolved<typeof SignalQualitySchema>
  retrieval: Omit<ResolvedRetrieval, 'weights'> & { weights: Required<ResolvedRetrieval['weights']> }
  reflect: Resolved<typeof ReflectSchema>
  mission?: string
}

/** The defaults of a bank's sections; the embedding provider decides the default weight of the semantic strategy. */
export function defaultSections (semanticWeight: number): BankSections {
  const retrieval = withDefaults(RetrievalSchema, {})
  return {
    homeostasis: withDefaults(HomeostasisSchema, {}),
    barriers: withDefaults(BarriersSchema, {}),
    signal_quality: withDefaults(SignalQualitySchema, {}),
    retrieval: { ...retrieval, weights: { ...retrieval.weights, semantic: semanticWeight } },
    reflect: withDefaults(ReflectSchema, {}),
  }
}
