/**
 * The parts of a `DynamoDBClient` of `@aws-sdk/client-dynamodb` by which posthorn knows it. posthorn sends its
 * commands by it, and so needs that package.
 */
export interface DynamoClient {
  /** The configuration of the SDK; posthorn reads which service the client is for. */
  readonly config: { readonly serviceId: string };
  /** Sends a command. */
  send(command: never, options?: never): Promise<unknown>;
}
