import t from 'tap'
import {
  parseEvidenceIds, parseQuestionDate, parseSessionTime, turnContent,
} from '../../bench/recall/formats/fields.js'

const read = (text: string) => {
  const instant = parseSessionTime(text)
  return instant === undefined ? undefined : new Date(instant).toISOString()
}

await t.test('a session time is read as UTC', async (t) => {
  t.equal(read('1:56 pm on 8 May, 2023'), '2023-05-08T13:56:00.000Z')
  t.equal(read('9:05 am on 29 February, 2024'), '2024-02-29T09:05:00.000Z')
})

await t.test('twelve is midnight in the morning and noon after it', async (t) => {
  t.equal(read('12:09 am on 13 September, 2023'), '2023-09-13T00:09:00.000Z')
  t.equal(read('12:30 pm on 13 September, 2023'), '2023-09-13T12:30:00.000Z')
})

await t.test('an invalid time is refused', async (t) => {
  for (const text of [
    '', '2023-05-08', '13:56 pm on 8 May, 2023', '0:10 am on 8 May, 2023', '1:60 pm on 8 May, 2023',
    '1:56 pm on 31 June, 2023', '1:56 pm on 0 May, 2023', '1:56 pm on 8 Mai, 2023',
  ]) {
    t.equal(parseSessionTime(text), undefined, text)
  }
})

await t.test('the time of a question is read in the form of a session time and in that of LongMemEval', async (t) => {
  t.equal(parseQuestionDate('1:56 pm on 8 May, 2023'), Date.UTC(2023, 4, 8, 13, 56))
  t.equal(parseQuestionDate('2024/02/29 (Thu) 23:40'), Date.UTC(2024, 1, 29, 23, 40))
  for (const text of [
    '', '2023-05-08', '2023/05/30 23:40', '2023/02/29 (Wed) 10:00', '2023/13/01 (Mon) 10:00', '2023/05/30 (Tue) 24:00',
    '2023/05/30 (Tue) 10:60',
  ]) {
    t.equal(parseQuestionDate(text), undefined, text)
  }
})

await t.test('an evidence entry can hold several turn ids', async (t) => {
  t.strictSame(parseEvidenceIds(['D8:6; D9:17', 'D1:1,D20:21']), ['D8:6', 'D9:17', 'D1:1', 'D20:21'])
})

await t.test('a turn becomes its speaker, its text and what its photo shows', async (t) => {
  t.equal(turnContent({ speaker: 'Ann', text: 'Hello!' }), 'Ann: Hello!')
  t.equal(turnContent({ speaker: 'Ann', text: 'Look!', blip_caption: 'a heron' }), 'Ann: Look! [photo: a heron]')
})
