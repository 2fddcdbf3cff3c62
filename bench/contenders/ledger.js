/**
 * The effect of the handlers that write to PostgreSQL.
 *
 * @param {{ query: (text: string, values: unknown[]) => Promise<unknown> }} transaction
 * @param {{ id: string }} event
 */
export async function book(transaction, { id }) {
  await transaction.query('insert into bench.ledger (event_id, amount) values ($1, $2)', [id, 1250]);
}
