import type { Assumed } from '../shapes/assumptions.ts';

/** The operations of a path by their methods. */
export type PathItem = Readonly<Partial<Record<'get' | 'post' | 'put', Operation>>>;

/** One operation. */
export interface Operation extends Assumed {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  /** Each entry alone is sufficient; `{}` means no authentication. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}
