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
import { dynamoFailures, isConditionalCheckFailed } from './errors.ts';

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

type WithoutTable<Input> = Omit<Input, 'TableName'>;

type Watcher = <Parameters, Result>(
  next: (parameters: Parameters) => Promise<Result>,
) => (parameters: Parameters) => Promise<Result>;

/** The SDK retries around this step. */
const INSIDE_RETRIES = { step: 'deserialize', priority: 'high' } as const;

interface Watchable {
  readonly middlewareStack: { add(watcher: Watcher, options: typeof INSIDE_RETRIES): void };
}

/** Sends a command; the SDK gives up once `abortSignal` aborts. */
type Send<Command, Result> = (
  command: Command,
  options: { readonly abortSignal: AbortSignal },
) => Promise<Result>;

interface Written {
  readonly Attributes?: Attributes | undefined;
}

/** One page of a query. */
export interface Page {
  readonly Items?: readonly Attributes[] | undefined;
  readonly Count?: number | undefined;
  readonly LastEvaluatedKey?: Attributes | undefined;
}

/**
 * Commands on one table, all within one time limit. Each is tried again after a failure that passes; then a
 * write may have been done already. The SDK tries again by itself as well, until the limit.
 */
export class TableSession {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #limit: OperationLimit;

  constructor(client: DynamoDBClient, table: string, limitMs: number) {
    this.#client = client;
    this.#table = table;
    this.#limit = limitFromNow(limitMs);
  }

  /** A session on the same table, whose time limit begins now. */
  anew(): TableSession {
    return new TableSession(this.#client, this.#table, this.#limit.ms);
  }

  put(input: WithoutTable<PutItemCommandInput>): Promise<WriteOutcome> {
    const create = () => new PutItemCommand({ ...this.#commonInput, ...input });
    return this.#write(create, (command, options) => this.#client.send(command, options));
  }

  update(input: WithoutTable<UpdateItemCommandInput>): Promise<WriteOutcome> {
    const create = () => new UpdateItemCommand({ ...this.#commonInput, ...input });
    return this.#write(create, (command, options) => this.#client.send(command, options));
  }

  delete(input: WithoutTable<DeleteItemCommandInput>): Promise<WriteOutcome> {
    const create = () => new DeleteItemCommand({ ...this.#commonInput, ...input });
    return this.#write(create, (command, options) => this.#client.send(command, options));
  }

  /** Reads what every write before has left. */
  async get(key: Attributes): Promise<Attributes | undefined> {
    const create = () => new GetItemCommand({ TableName: this.#table, Key: key, ConsistentRead: true });
    const { Item } = await this.#send(create, (command, options) => this.#client.send(command, options));
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

  get #commonInput() {
    return { TableName: this.#table, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  }

  #query(input: WithoutTable<QueryCommandInput>): Promise<Page> {
    const create = () => new QueryCommand({ TableName: this.#table, ConsistentRead: true, ...input });
    return this.#send(create, (command, options) => this.#client.send(command, options));
  }

  /** A refusal is an answer, not a failure. */
  #write<Command extends Watchable>(
    create: () => Command,
    send: Send<Command, Written>,
  ): Promise<WriteOutcome> {
    return this.#send<Command, WriteOutcome>(create, async (command, options) => {
      try {
        const { Attributes: old } = await send(command, options);
        return { isWritten: true, old };
      } catch (error) {
        if (!isConditionalCheckFailed(error)) throw error;
        return { isWritten: false, found: error.Item };
      }
    });
  }

  #send<Command extends Watchable, Result>(
    create: () => Command,
    send: Send<Command, Result>,
  ): Promise<Result> {
    return retryInTime(this.#limit, dynamoFailures, ({ signal, noteFailure }) => {
      const command = create();
      command.middlewareStack.add(watcher(noteFailure), INSIDE_RETRIES);
      return send(command, { abortSignal: signal });
    });
  }
}

/** Creates a middleware that sees the failures after which the SDK tries again. */
function watcher(noteFailure: (error: unknown) => void): Watcher {
  return (next) => async (parameters) => {
    try {
      return await next(parameters);
    } catch (error) {
      noteFailure(error);
      throw error;
    }
  };
}
