import t from 'tap'
import { arrayElements, arrayNumbers, arrayText } from '../../../../lib/stores/sql/executor.js'

t.test('the elements that are read from an array are those that it was made from', async (t) => {
  const arrays: Array<Array<string | null>> = [
    [], [''], ['a'], ['a', 'b c', 'd,e'], ['"', '\\', '{}', 'NULL', ' '], [null], [null, 'NULL', null],
    ['line\nline', '渡し船'],
  ]
  for (const elements of arrays) t.strictSame(arrayElements(arrayText(elements)), elements, arrayText(elements))
})

t.test('PostgreSQL writes elements without quotes where it can', async (t) => {
  t.strictSame(arrayElements('{}'), [])
  t.strictSame(arrayElements('{a}'), ['a'])
  t.strictSame(arrayElements('{a,NULL,b-c}'), ['a', null, 'b-c'])
  t.strictSame(arrayElements('{a,"b c",NULL,"NULL","d,\\"e\\""}'), ['a', 'b c', null, 'NULL', 'd,"e"'])
})

t.test('arrays of numbers are read and written', async (t) => {
  t.strictSame(arrayNumbers('{}'), [])
  t.strictSame(arrayNumbers('{0}'), [0])
  t.strictSame(arrayNumbers('{1,-2,NULL,1.5,1e-05,Infinity}'), [1, -2, null, 1.5, 0.00001, Infinity])
})
