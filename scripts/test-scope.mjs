// The result of `import t from 'tap'` in compiled tests: the test of the file being loaded, else tap's own root.
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
