/** A note for a scope in which nothing was found. `missing` is for example `no dead letter`. */
export function emptyScope(missing: string, scope: string): string {
  return (
    `posthorn: ${missing} in the scope ${JSON.stringify(scope)}: a misspelt scope or another database ` +
    'looks the same'
  );
}
