import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'

/** The version of Hindsight whose client is served. */
const API_VERSION = '0.9.1'

/** The features that clients check before they use a part of the API. */
const FEATURES = {
  observations: false,
  mcp: false,
  worker: false,
  bank_config_api: true,
  bank_llm_health: false,
  file_upload_api: false,
  document_export_api: false,
  document_import_api: false,
  audit_log: false,
  llm_trace: false,
  store_document_text: true,
}

const Version = Type.Object({ api_version: Type.String(), features: Type.Record(Type.String(), Type.Boolean()) })

/** Registered in the public scope, because the client may call it without a key. */
export const versionRoute: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/version', {
    config: { scope: 'public' },
    schema: { hide: true, response: { 200: Version } },
  }, async () => ({ api_version: API_VERSION, features: FEATURES }))
}
