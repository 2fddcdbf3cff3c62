/** The ids that a list gives until it ends or fails, and how it fails. */
export async function listUntilError(letters: AsyncIterable<{ readonly id: string }>) {
  const seen: string[] = [];
  try {
    for await (const { id } of letters) seen.push(id);
    return { seen, error: undefined };
  } catch (error) {
    return { seen, error };
  }
}
