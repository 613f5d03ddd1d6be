import { Type, type Static } from 'typebox'
import { BANK_ID, BANK_ID_IN_WORDS, PRINCIPAL, PRINCIPAL_IN_WORDS } from '../validation/ids.js'
import { text, TrustOfWriter } from './schema-parts.js'
import { section, setting } from '../validation/defaults.js'

export const SIGNATURE_HEADER = 'X-Signature-256'

const header = (description: string) => text('^[A-Za-z0-9-]+$', 'of letters, digits and -', description)

export const SourceSchema = section({
  type: Type.Literal('webhook', { description: 'The kind of source.' }),
  target_bank: text(`^${BANK_ID}$`, `a bank id ${BANK_ID_IN_WORDS}`, 'The bank that receives the events.'),
  tenant_id: Type.Optional(text('^(?=.*\\S)[^\\p{Cc}\\p{Cs}]{1,256}$', 'of 1 to 256 characters that are not all blank',
    'Tenant that the bank belongs to, as in tokens of auth mode jwt_oidc. Default: no tenant.')),
  principal: Type.Optional(text(`^${PRINCIPAL}$`, `of ${PRINCIPAL_IN_WORDS}`,
    'Principal that retains the events. Default service:<source_id>.')),
  content_path: Type.Optional(text('^(/([^~/]|~[01])*)+$', 'a JSON pointer such as /data/content',
    'JSON pointer (RFC 6901) to the content. Default /content, else /text when /content is absent or null.')),
  auth: Type.Union([
    section({ type: Type.Literal('none', { description: 'Anyone may send events.' }) }, 'No authentication.'),
    section({
      type: Type.Literal('hmac', { description: 'HMAC-SHA256 in hex over the raw body.' }),
      secret: Type.String({ minLength: 1, description: 'The secret shared with the sender.' }),
      header: setting(header('Header that contains the signature.'), SIGNATURE_HEADER),
      timestamp_header: Type.Optional(header('Header that contains the Unix time in seconds, which is signed with ' +
        'the body. The tolerance is five minutes.')),
    }, 'A shared secret.'),
  ], { description: 'How a sender authenticates.' }),
  trust: Type.Optional(TrustOfWriter('Trust of its memories; identity.trust may lower it for its ' +
    'principal. Default trusted with auth hmac, untrusted with auth none.')),
}, 'A webhook that retains the events it receives.')

export type SourceConfig = Static<typeof SourceSchema>
