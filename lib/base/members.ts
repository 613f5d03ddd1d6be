/** T while it is built: its members can still be set. */
export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** T with optional members in the place of those that can be undefined. */
type WithoutUndefined<T> =
  { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } &
  { [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined> }

/**
 * A copy without the members that are undefined: JSON and a `Filters` have no such members, and neither may have a type
 * with exact optional members.
 */
export function withoutUndefined<T extends object> (members: T): WithoutUndefined<T> {
  const copy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(members)) if (value !== undefined) copy[name] = value
  return copy as WithoutUndefined<T>
}
