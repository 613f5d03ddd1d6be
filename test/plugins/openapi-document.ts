/** What the tests look at of an OpenAPI document. */

export interface Content {
  schema?: object,
  example?: unknown,
  examples?: Record<string, {
    value?: unknown
    $ref?: string
  }>
}
export interface Operation {
  operationId: string
  summary: string
  tags: string[]
  security: Array<Record<string, string[]>>
  parameters?: Array<{ name: string, in: string, schema: object, example?: unknown }>
  requestBody?: { content: Record<string, Content> }
  responses: Record<string, { content?: Record<string, Content> }>
}
export interface Document {
  openapi: string
  info: { version: string }
  tags: Array<{ name: string }>
  paths: Record<string, Record<string, Operation>>
  components: {
    securitySchemes: Record<string, unknown>,
    schemas: Record<string, object>,
    examples: Record<string, {
      value: unknown
    }>
  }
}
