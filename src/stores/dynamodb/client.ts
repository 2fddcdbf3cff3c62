/**
 * The parts by which posthorn knows a `DynamoDBClient` of `@aws-sdk/client-dynamodb`. Its commands come from
 * that package, so it must be installed.
 */
export interface DynamoClient {
  /** The configuration of the SDK. posthorn reads the name of the service. */
  readonly config: { readonly serviceId: string };
  /** Sends a command. */
  send(command: never, options?: never): Promise<unknown>;
}
