/** The part of an HTTP event of Lambda that is read. Its members are checked when it comes. */
export interface LambdaEvent {
  /** API Gateway's payload format 1.0 and an Application Load Balancer set it. */
  readonly httpMethod?: string | undefined;
  /** The path; in format 1.0 `requestContext` has it as the sender wrote it. */
  readonly path?: string | undefined;
  /** The path, in format 2.0. */
  readonly rawPath?: string | undefined;
  /** The query as the sender wrote it, in format 2.0. */
  readonly rawQueryString?: string | undefined;
  /** One value of each parameter of the query; format 1.0 decodes them, and a load balancer does not. */
  readonly queryStringParameters?: LambdaParameters<string> | null | undefined;
  /** Takes precedence over `queryStringParameters`. */
  readonly multiValueQueryStringParameters?: LambdaParameters<readonly string[]> | null | undefined;
  /** Has `path` in format 1.0, `http` in format 2.0, and `elb` behind a load balancer. */
  readonly requestContext?: object | undefined;
  /** One value of each name; format 2.0 joins the values of a name that was sent twice. */
  readonly headers?: LambdaHeaders<string> | null | undefined;
  /** Takes precedence over `headers`, which has only one value of each name. Names match in any case. */
  readonly multiValueHeaders?: LambdaHeaders<readonly string[]> | null | undefined;
  /** Text, or bytes in Base64; null or absent if there is none. */
  readonly body?: string | null | undefined;
  /** True if `body` is in Base64. */
  readonly isBase64Encoded?: boolean | undefined;
}

/** Values of headers by name. */
export interface LambdaHeaders<Value> {
  /** Names may be in any case. */
  readonly [name: string]: Value | undefined;
}

/** Values of the parameters of a query, by name. */
export interface LambdaParameters<Value> {
  /** Names are as the platform gives them. */
  readonly [name: string]: Value | undefined;
}
