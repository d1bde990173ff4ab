/** The parts of OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1) that our description uses. */

/** JSON Schema 2020-12, as far as our schemas use it. */
export interface JsonSchema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: readonly string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  anyOf?: readonly JsonSchema[];
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  format?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'header' | 'path' | 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface Header {
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface MediaType {
  readonly schema: JsonSchema;
  readonly examples?: Record<string, { readonly summary?: string; readonly value: unknown }>;
}

export interface Response {
  readonly description: string;
  readonly headers: Record<string, { readonly $ref: string }>;
  readonly content: Record<string, MediaType>;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters: readonly { readonly $ref: string }[];
  readonly requestBody?: {
    readonly required: true;
    readonly description: string;
    readonly content: Record<string, MediaType>;
  };
  readonly responses: Record<string, Response>;
}

export type HttpMethod = 'get' | 'post';

export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Record<string, Partial<Record<HttpMethod, Operation>>>;
  readonly components: {
    readonly securitySchemes: Record<
      string,
      { readonly type: 'http'; readonly scheme: 'bearer'; readonly description: string }
    >;
    readonly parameters: Record<string, Parameter>;
    readonly headers: Record<string, Header>;
    readonly schemas: Record<string, JsonSchema>;
  };
}
