import { type Assumed, assumed } from '../shapes/assumptions.ts';
import type { PathItem } from './operation.ts';
import { openApiPaths } from './paths.ts';
import { type JsonSchema, openApiSchemas } from './schemas.ts';
import { eventsTag, openApiWebhooks } from './webhooks.ts';

/** An OpenAPI 3.1 document with the members of ours. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Assumed & { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly object[];
  readonly tags: readonly (Assumed & { readonly name: string; readonly description?: string })[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly webhooks: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

/** Creates the OpenAPI 3.1 document of the service, from the schemas that the client and the sandbox use. */
export function createOpenApiDocument(): OpenApiDocument {
  return {
    openapi: '3.1.1',
    info,
    servers: [server],
    tags: [{ name: 'FX quotes' }, { name: 'eChecks' }, { name: 'Reference lists' }, webhooksTag, eventsTag],
    paths: openApiPaths(),
    webhooks: openApiWebhooks(),
    components: { schemas: openApiSchemas(), securitySchemes },
  };
}

const info: OpenApiDocument['info'] = {
  title: 'Payments and Banking Service',
  // The interface does not have a version of its own: versions appear only in paths.
  version: '1.0.0',
  description:
    'Foreign-exchange quotes, lookup of eChecks, reference lists, and webhooks with their events. ' +
    'If the interface leaves something open, `x-posthorn-assumptions` names the rows of ' +
    '[docs/assumptions.md](docs/assumptions.md) that have the choice and its reason. Rate limits are not ' +
    'documented.',
  ...assumed(
    "the interface's own version",
    'deprecation and compatibility policy',
    'rate limits',
    'rate limits, in the sandbox',
  ),
};

const server = {
  url: '{base_url}',
  description: 'Production and staging differ in the base address only. The default is `posthorn sandbox`.',
  variables: { base_url: { default: 'http://127.0.0.1:4010' } },
  ...assumed('the base address'),
};

const webhooksTag = {
  name: 'Webhooks',
  ...assumed(
    'deleting a webhook',
    'deleting a webhook, in the document',
    'fetching one webhook and deleting it, in the sandbox',
  ),
};

const securitySchemes = {
  bankingToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'With the API key' },
  bankingApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'With the JWT' },
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'Obtained through the login operation; its lifetime is not documented',
    ...assumed('the lifetime of the access token'),
  },
  administrator: { type: 'http', scheme: 'basic', description: 'An administrator user' },
  webhookBasic: {
    type: 'http',
    scheme: 'basic',
    description: 'Sent by the service where `authentication.type` of the webhook is `BASIC`',
    ...assumed('the charset of BASIC credentials'),
  },
  webhookBearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'Sent by the service where `authentication.type` of the webhook is `BEARER`',
  },
} as const;
