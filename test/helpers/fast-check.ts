import fc from 'fast-check'

// The same cases in every run: a failure that came by chance could not be told from a change's own.
fc.configureGlobal({ seed: 20260115 })

export default fc
