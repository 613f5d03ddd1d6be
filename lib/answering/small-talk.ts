import { words } from '../text/words.js'

/** Words of greetings, thanks, praise and agreement, as `words` folds them: alone they tell nothing. */
const SMALL_TALK: ReadonlySet<string> = new Set(words(`
  hey hi hello yo hiya morning evening afternoon night goodnight bye goodbye see ya later soon care welcome
  wow whoa woah oh ooh aw aww ah haha hahaha lol omg gosh yay woohoo hooray
  thanks thank thx ty appreciate congrats congratulations cheers please sorry
  yes yeah yep yup yea nope nah no ok okay sure right exactly absolutely definitely totally certainly course indeed
  true agreed agree same too also really very so such pretty super quite much lot lots just well then now
  great good nice cool awesome amazing wonderful fantastic lovely beautiful fabulous incredible impressive perfect
  excellent brilliant sweet neat fun interesting exciting inspiring gorgeous stunning adorable cute
  glad happy excited thrilled proud sounds sound looks look seems like love hear heard know got get bet guess think
  thats thatll its im youre your youve you me i my we us he she they them it that this these those there here what
  how who a an the is are was were be been am do did does have has had can could would will to of for with about at
  in on and or but if as from all always ever again back long time catch catching up chat talk talking new stuff
  hope hoping doing going fine best wishes luck day everything anything something things thing mate buddy friend pal
  dear guys man girl bro dude there miss missed cant wait way tell meet seeing keep keeping support
  sharing share help let makes made
`))
/** A greeting, an exclamation or an agreement before what is said, perhaps with a name: `Hey Mel!`, `Yeah, Jo,`. */
const OPENING = new RegExp([
  String.raw`^(?:(?:hey|hi|hiya|hello|yo|wow|whoa|woah|oh|ooh|aww?|ah|haha|yay|yes|yeah|yep|yup|yea|nope|nah|no|ok`,
  String.raw`|okay|sure|right|exactly|absolutely|definitely|totally|of course|thanks(?: a lot| so much)?`,
  String.raw`|thank you(?: so much)?|congrats|congratulations|sorry|cheers|good (?:morning|evening|afternoon))`,
  String.raw`(?:\s+(?:there|guys|everyone|\p{L}[\p{L}'’.-]*))?\s*[,!.…—–-]+\s*`,
  String.raw`(?:\p{L}[\p{L}'’-]*\s*[,!.]+\s*)?)+`,
].join(''), 'iu')

/** The sentence without a greeting, an exclamation or an agreement before it. */
export function withoutOpening (sentence: string): string {
  const opening = OPENING.exec(sentence)?.[0] ?? ''
  return sentence.slice(opening.length)
}

/**
 * Whether a sentence tells something: it has a word besides small talk and names of those who speak.
 * @param isName whether a folded word is such a name
 */
export function tellsSomething (sentence: string, isName: (word: string) => boolean): boolean {
  return words(sentence).some((word) => !SMALL_TALK.has(word) && !isName(word))
}
