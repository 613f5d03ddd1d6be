import fc from './fast-check.js'

/** Any UTF-16 units at all: control characters, NUL, halves of surrogate pairs. */
export const anyUtf16: fc.Arbitrary<string> = fc.array(fc.oneof(
  fc.integer({ min: 0, max: 0x7f }),
  fc.integer({ min: 0, max: 0xffff }),
  fc.integer({ min: 0xd800, max: 0xdfff }),
)).map((units) => String.fromCharCode(...units))
