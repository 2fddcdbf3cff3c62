import { checkBegun } from '../checks/called-functions.ts';
import { DataError } from '../errors.ts';
import { messageOf, shorten } from '../values/foreign-values.ts';

/**
 * A validator of the Standard Schema specification, version 1, such as a schema of zod, valibot or arktype.
 * It is declared here so that none of them has to be installed.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** The members that the specification prescribes. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: SchemaPath | undefined }[] };

type SchemaPath = readonly (PropertyKey | { readonly key: PropertyKey })[];

/** Validators of `event.data`, by the first segment of the event's type. */
export type SchemasByEntity = Readonly<Record<string, StandardSchemaV1 | undefined>>;

/**
 * Validates `data` with a schema. Resolves with the schema's output, or with an error if the schema refuses
 * the data, throws, or returns an invalid result. Never rejects.
 */
export async function validateData(
  schema: StandardSchemaV1,
  data: unknown,
  entity: string,
): Promise<{ readonly data: unknown } | DataError> {
  try {
    const result = checkBegun(await schema['~standard'].validate(data), 'validate()');
    // The output is wrapped in an object: one with a method `then` must not be awaited as a promise.
    if (result.issues === undefined) return { data: result.value };
    const { issues } = result;
    const problems = issues.map(({ message, path }) => `${['data', ...keysOf(path)].join('.')}: ${message}`);
    const message = `the schema of "${entity}" refused the data: ${problems.join('; ')}`;
    return new DataError(shorten(message), issues);
  } catch (cause) {
    const message = `the schema of "${entity}" threw, or returned an invalid result: ${messageOf(cause)}`;
    return new DataError(message, [], { cause });
  }
}

function keysOf(path: SchemaPath = []): string[] {
  return path.map((step) => String(typeof step === 'object' ? step.key : step));
}
