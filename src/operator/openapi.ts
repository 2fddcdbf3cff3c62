import * as z from 'zod';
import type { Route } from './route.ts';
import { problem } from './shapes/answers.ts';

/** Creates the OpenAPI 3.1 document of the interface, from the schemas that its routes use. */
export function createOperatorDocument(routes: readonly Route[], mount: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const { method, path } = route;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: "The operator's interface of posthorn",
      version: '1.0.0',
      description: 'Dead letters, health, deliveries and the journal of receivers.',
    },
    // By default it is `/`.
    ...(mount !== '/' && { servers: [{ url: mount, description: 'The path of the mount' }] }),
    paths,
    components: { schemas: componentsOf(routes) },
  };
}

const RECEIVER = {
  name: 'receiver',
  in: 'query',
  description: 'The name of the receiver: required if there are several',
  schema: { type: 'string' },
};

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

function operationOf({ answer, body, isOfAll, operationId, path, query, summary }: Route): object {
  const content = body && { 'application/json': { schema: referenceTo(body) } };
  return {
    operationId,
    summary,
    parameters: [
      ...(path.includes('{id}') ? [ID] : []),
      ...(isOfAll === true ? [] : [RECEIVER]),
      ...queryParameters(query),
    ],
    ...(content && { requestBody: { required: true, content } }),
    responses: {
      200: { description: 'Done', content: { 'application/json': { schema: referenceTo(answer) } } },
      default: {
        description: 'A problem: see its code',
        content: { 'application/problem+json': { schema: referenceTo(problem) } },
      },
    },
  };
}

/** A query has texts: the document describes what they are read as. */
function queryParameters(query: z.ZodType): readonly object[] {
  const { properties = {} } = z.toJSONSchema(query, { target: 'draft-2020-12', io: 'output' });
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', schema }));
}

function referenceTo(schema: z.ZodType): object {
  return { $ref: `#/components/schemas/${idOf(schema)}` };
}

function idOf(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (id === undefined) throw new TypeError('a schema of the OpenAPI document needs an id in its metadata');
  return id;
}

/** The schemas that have an id, each once, by their ids. */
function componentsOf(routes: readonly Route[]): object {
  const schemas = new Set([problem, ...routes.flatMap(({ answer, body }) => [answer, body ?? answer])]);
  const { $defs = {} } = z.toJSONSchema(z.union([...schemas]), { target: 'draft-2020-12', io: 'input' });
  return JSON.parse(JSON.stringify($defs).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
