/** The list of FX quotes, which count down. */
export const quotesScript: string = `
/** @type {{ quote: Quote, state: Element }[]} */
let shown = [];
let shownQuotes = '';

/** @param {Activity} activity */
function showQuotes({ quotes }) {
  if (JSON.stringify(quotes) === shownQuotes) return;
  shownQuotes = JSON.stringify(quotes);
  shown = quotes.map((quote) => ({ quote, state: element('span', 'badge') })).reverse();
  showList('quotes', shown.map(({ quote, state }) => quoteItem(quote, state)));
  countDownQuotes();
}

function countDownQuotes() {
  for (const { quote, state } of shown) {
    const isAccepted = quote.status !== 'GENERATED';
    const isOver = quote.expiresAt <= now();
    state.className = 'badge ' + (isAccepted ? 'good' : isOver ? 'bad' : 'waiting');
    setText(state, quote.status + (isAccepted ? '' : isOver ? ', expired' : ', ' + timeUntil(quote.expiresAt) + ' left'));
  }
}

/**
 * @param {Quote} quote
 * @param {Element} state
 */
function quoteItem({ id, source, destination, fxRate, fee, fxQuoteExpiry }, state) {
  const amounts = source.amount + ' ' + source.currency + ' to ' + destination.amount + ' ' + destination.currency;
  return element(
    'li', '',
    element('p', 'line', element('span', '', amounts), state),
    element('p', 'minor', 'quote ' + id + ', rate ' + fxRate + ', fee ' + fee + ', expires ' + fxQuoteExpiry + ' UTC'),
  );
}
`;
