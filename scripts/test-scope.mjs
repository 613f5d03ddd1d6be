// The module that `import t from 'tap'` gets in compiled tests. It exports the test of the file that is being loaded,
// or the root of tap when no file is being loaded.
import { t as root } from 'tap'

let current = root

/** Runs `load`, during which `test` takes the place of tap's root in the files that are imported. */
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
