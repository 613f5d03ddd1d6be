// What `import t from 'tap'` gives to compiled tests: the test of the file that is loaded at the moment, else tap's own
// root.
import { t as root } from 'tap'

let current = root

/** Runs `load`; what the files that it imports say to tap meanwhile, they say to `test`. */
export async function within (test, load) {
  current = test
  try {
    await load()
  } finally {
    current = root
  }
}

export const scope = new Proxy(root, {
  get: (_root, name) => {
    const value = Reflect.get(current, name, current)
    return typeof value === 'function' ? value.bind(current) : value
  },
})

export const test = (...parameters) => current.test(...parameters)
