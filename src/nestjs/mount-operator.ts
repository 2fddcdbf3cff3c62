import type { AbstractHttpAdapter } from '@nestjs/core';
import type { NodeRequest, NodeResponse } from '../../adapters/node-http.ts';
import type { Operable } from '../operator/operated-receiver.ts';
import { readOperatorOptions } from '../operator/options.ts';
import { type NodeOperatorHandler, toNodeOperator } from '../operator/to-node-operator.ts';
import type { PosthornOperatorOptions } from './options.ts';

/**
 * Creates the interface of operators. Until `started` resolves, it is not there: a replay would find handlers
 * missing.
 *
 * @throws ConfigurationError for a wrong option.
 */
export function createOperator(
  receiver: Operable,
  options: PosthornOperatorOptions,
  started: Promise<void>,
): NodeOperatorHandler {
  readOperatorOptions('operator of PosthornModule', options);
  const operator = toNodeOperator(receiver, options);
  let isStarted = false;
  void started.then(() => {
    isStarted = true;
  });
  return (request, response, next) => {
    if (isStarted || next === undefined) operator(request, response, next);
    else next();
  };
}

/** Mounts it before body parsers. A hook of Fastify also gets the requests that have no route. */
export function mountOperatorOn(adapter: AbstractHttpAdapter, operator: NodeOperatorHandler): void {
  if (adapter.getType() === 'express') adapter.use(operator);
  else adapter.getInstance<Hooks>().addHook('onRequest', (...parts) => answerInHook(operator, ...parts));
}

function answerInHook(operator: NodeOperatorHandler, ...[{ raw }, reply, next]: Parameters<OnRequest>): void {
  let isOther = false;
  operator(raw, reply.raw, (error) => {
    isOther = true;
    next(error);
  });
  // Otherwise `handlerTimeout` of Fastify would answer a long deed.
  if (!isOther) reply.hijack();
}

interface Hooks {
  addHook(name: 'onRequest', hook: OnRequest): unknown;
}

type OnRequest = (
  request: { readonly raw: NodeRequest },
  reply: { readonly raw: NodeResponse; hijack(): unknown },
  next: (error?: unknown) => void,
) => void;
