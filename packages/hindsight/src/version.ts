/** The version of Hindsight whose client is served, and the features that clients check before they use them. */
export const version = {
  api_version: '0.9.1',
  features: {
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
  },
}
