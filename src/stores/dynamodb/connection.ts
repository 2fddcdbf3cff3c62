import {
  type AttributeValue,
  DeleteItemCommand,
  type DeleteItemCommandInput,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  type QueryCommandInput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { limitFromNow, type OperationLimit, retryInTime } from '../kit/retry-in-time.ts';
import { dynamoFailureRules, isConditionalCheckFailed } from './errors.ts';

/** An item, or its key, as the SDK has it. */
export type Attributes = Record<string, AttributeValue>;

/** The outcome of a conditional write. */
export type WriteOutcome =
  | {
      readonly isWritten: true;
      /** The item before, if the write asked for it by `ReturnValues`. */
      readonly old: Attributes | undefined;
    }
  | {
      readonly isWritten: false;
      /** The item that did not meet the condition; undefined if there was none. */
      readonly found: Attributes | undefined;
    };

/** One page of a query. */
export interface Page {
  readonly Items?: readonly Attributes[] | undefined;
  readonly Count?: number | undefined;
  readonly LastEvaluatedKey?: Attributes | undefined;
}

type WithoutTable<Input> = Omit<Input, 'TableName'>;

/** A middleware that sees the failures after which the SDK tries again. */
type Watcher = <Parameters, Result>(
  next: (parameters: Parameters) => Promise<Result>,
) => (parameters: Parameters) => Promise<Result>;

/** The SDK retries around this step. */
const INSIDE_RETRIES = { step: 'deserialize', priority: 'high' } as const;

interface Watchable {
  readonly middlewareStack: { add(watcher: Watcher, options: typeof INSIDE_RETRIES): void };
}

/** Sends a command once. `watch` must see it; the SDK gives up once `abortSignal` aborts. */
type Send<Result> = (
  watch: <Command extends Watchable>(command: Command) => Command,
  options: { readonly abortSignal: AbortSignal },
) => Promise<Result>;

/**
 * Sends commands on one table, all within one time limit. Each is sent again after a failure that passes;
 * then a write may have been done already. The SDK tries again by itself as well, until the limit.
 */
export class DynamoConnection {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #limit: OperationLimit;

  constructor(client: DynamoDBClient, table: string, limitMs: number) {
    this.#client = client;
    this.#table = table;
    this.#limit = limitFromNow(limitMs);
  }

  /** The same, with a time limit that begins now. */
  withNewLimit(): DynamoConnection {
    return new DynamoConnection(this.#client, this.#table, this.#limit.ms);
  }

  put(input: WithoutTable<PutItemCommandInput>): Promise<WriteOutcome> {
    const command = () => new PutItemCommand({ ...this.#writeInput, ...input });
    return this.#write((watch, options) => this.#client.send(watch(command()), options));
  }

  update(input: WithoutTable<UpdateItemCommandInput>): Promise<WriteOutcome> {
    const command = () => new UpdateItemCommand({ ...this.#writeInput, ...input });
    return this.#write((watch, options) => this.#client.send(watch(command()), options));
  }

  delete(input: WithoutTable<DeleteItemCommandInput>): Promise<WriteOutcome> {
    const command = () => new DeleteItemCommand({ ...this.#writeInput, ...input });
    return this.#write((watch, options) => this.#client.send(watch(command()), options));
  }

  /** Reads what every write before has left. */
  async get(key: Attributes): Promise<Attributes | undefined> {
    const command = () => new GetItemCommand({ TableName: this.#table, Key: key, ConsistentRead: true });
    const { Item } = await this.#send((watch, options) => this.#client.send(watch(command()), options));
    return Item;
  }

  /** Reads page by page what every write before has left. */
  async *pages(input: WithoutTable<QueryCommandInput>): AsyncGenerator<Page> {
    let last: Attributes | undefined;
    do {
      const page: Page = await this.#query({ ...input, ExclusiveStartKey: last });
      yield page;
      last = page.LastEvaluatedKey;
    } while (last !== undefined);
  }

  get #writeInput() {
    return { TableName: this.#table, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  }

  #query(input: WithoutTable<QueryCommandInput>): Promise<Page> {
    const command = () => new QueryCommand({ TableName: this.#table, ConsistentRead: true, ...input });
    return this.#send((watch, options) => this.#client.send(watch(command()), options));
  }

  /** A refusal is an answer, not a failure. */
  #write(send: Send<{ readonly Attributes?: Attributes | undefined }>): Promise<WriteOutcome> {
    return this.#send<WriteOutcome>(async (watch, options) => {
      try {
        const { Attributes: old } = await send(watch, options);
        return { isWritten: true, old };
      } catch (error) {
        if (!isConditionalCheckFailed(error)) throw error;
        return { isWritten: false, found: error.Item };
      }
    });
  }

  #send<Result>(send: Send<Result>): Promise<Result> {
    return retryInTime(this.#limit, dynamoFailureRules, ({ signal, noteFailure }) => {
      const watcher: Watcher = (next) => async (parameters) => {
        try {
          return await next(parameters);
        } catch (error) {
          noteFailure(error);
          throw error;
        }
      };
      const watch = <Command extends Watchable>(command: Command): Command => {
        command.middlewareStack.add(watcher, INSIDE_RETRIES);
        return command;
      };
      return send(watch, { abortSignal: signal });
    });
  }
}
