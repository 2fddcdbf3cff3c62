import type { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { messageOf, propertyOf } from '../../receiver/values/foreign-values.ts';
import type { FailureRules } from '../kit/failure-rules.ts';

/**
 * The names of errors that pass:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html. Errors
 * of the SDK are told by their names, because a project can have several versions of it.
 */
const PASSING_NAMES: ReadonlySet<unknown> = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'InternalServerError',
  'ServiceUnavailable',
  'TransactionConflictException',
  'TransactionInProgressException',
  'ReplicatedWriteConflictException',
  // The SDK may get new credentials for the next try.
  'ExpiredTokenException',
  'TimeoutError',
]);

/** Codes of Node.js, for connections that could not be opened or were cut. */
const PASSING_CODES: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

function isTemporary(error: unknown): boolean {
  return (
    PASSING_NAMES.has(propertyOf(error, 'name')) ||
    PASSING_CODES.has(propertyOf(error, 'code')) ||
    propertyOf(error, '$retryable') !== undefined ||
    propertyOf(error, '$fault') === 'server' ||
    Number(propertyOf(propertyOf(error, '$metadata'), 'httpStatusCode')) >= 500
  );
}

/** Advice, by the names of errors. */
const explanations: Readonly<Record<string, string>> = {
  ResourceNotFoundException:
    'the table does not exist in this account and region, or is still being created: create it as ' +
    'docs/dynamodb.md of posthorn says',
  AccessDeniedException:
    'the credentials of the client need the rights dynamodb:GetItem, PutItem, UpdateItem, DeleteItem and Query ' +
    'on the table and on its index by-position',
  ItemCollectionSizeLimitExceededException:
    'the dead letters of this scope have reached 10 GB, the most that a table with a local index takes for a scope: ' +
    'replay or drop dead letters',
  CredentialsProviderError:
    'the client has no credentials: give it some, or a role to the machine or function',
  ProvisionedThroughputExceededException:
    'the table has too little capacity: raise it, or switch the table to on-demand',
  ExpiredTokenException: 'the credentials of the client have expired, and it got no new ones',
};

const ADVICE_ON_SCHEMA =
  'DynamoDB refused the request: the table needs the keys "pk" and "sk" and the local index "by-position", ' +
  'as docs/dynamodb.md of posthorn says; an index can only be added by creating the table anew';

function explain(error: unknown): Error {
  const name = propertyOf(error, 'name');
  const reason = messageOf(error);
  const advice = typeof name === 'string' ? adviceOn(name, reason) : undefined;
  if (advice !== undefined) return new Error(`${advice} (${name}: ${reason})`, { cause: error });
  return new Error(`DynamoDB: ${reason}`, { cause: error });
}

function adviceOn(name: string, reason: string): string | undefined {
  // DynamoDB has this name for everything that is wrong with a request, such as an item that is too large.
  if (name === 'ValidationException')
    return /\b(keys?|schema|index(es)?|GSI)\b/i.test(reason) ? ADVICE_ON_SCHEMA : undefined;
  return Object.hasOwn(explanations, name) ? explanations[name] : undefined;
}

/** The failures of DynamoDB: which of them pass, and what to do about the others. */
export const dynamoFailureRules: FailureRules = { server: 'DynamoDB', isTemporary, explain };

/**
 * Returns true for the refusal of a conditional write. It brings the item if that was asked for and there is
 * one.
 */
export function isConditionalCheckFailed(error: unknown): error is ConditionalCheckFailedException {
  return propertyOf(error, 'name') === 'ConditionalCheckFailedException';
}

/** The error for a refusal that does not bring the item, although there must be one. */
export function refusalWithoutItem(): Error {
  return new Error(
    'the refusal of a write did not bring the item: it takes @aws-sdk/client-dynamodb 3.363.0 or later, and an ' +
      'endpoint that knows ReturnValuesOnConditionCheckFailure',
  );
}
