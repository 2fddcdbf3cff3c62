/** A currency that can be quoted. */
export interface Rate {
  readonly currency: string;
  /** USD to the currency; six decimal places (interface, "FX quote"). */
  readonly rate: string;
  readonly countries: readonly string[];
}

/** The rates are made up and fixed, so that quotes are predictable. */
export const rates: readonly Rate[] = [
  { currency: 'AED', rate: '3.672500', countries: ['United Arab Emirates'] },
  { currency: 'AUD', rate: '1.524300', countries: ['Australia'] },
  { currency: 'BRL', rate: '5.431200', countries: ['Brazil'] },
  { currency: 'CAD', rate: '1.368450', countries: ['Canada'] },
  { currency: 'CHF', rate: '0.884100', countries: ['Switzerland', 'Liechtenstein'] },
  { currency: 'CNY', rate: '7.246800', countries: ['China'] },
  { currency: 'CZK', rate: '23.154000', countries: ['Czech Republic'] },
  { currency: 'DKK', rate: '6.874200', countries: ['Denmark'] },
  {
    currency: 'EUR',
    rate: '0.921450',
    countries: ['Austria', 'Belgium', 'France', 'Germany', 'Ireland', 'Italy', 'Netherlands', 'Spain'],
  },
  { currency: 'GBP', rate: '0.786320', countries: ['United Kingdom'] },
  { currency: 'HKD', rate: '7.812600', countries: ['Hong Kong'] },
  { currency: 'INR', rate: '83.412500', countries: ['India'] },
  { currency: 'JPY', rate: '151.237000', countries: ['Japan'] },
  { currency: 'KRW', rate: '1352.480000', countries: ['South Korea'] },
  { currency: 'MXN', rate: '16.743900', countries: ['Mexico'] },
  { currency: 'NOK', rate: '10.634700', countries: ['Norway'] },
  { currency: 'NZD', rate: '1.662100', countries: ['New Zealand'] },
  { currency: 'PHP', rate: '56.287000', countries: ['Philippines'] },
  { currency: 'PLN', rate: '3.964800', countries: ['Poland'] },
  { currency: 'SEK', rate: '10.582300', countries: ['Sweden'] },
  { currency: 'SGD', rate: '1.347600', countries: ['Singapore'] },
  { currency: 'ZAR', rate: '18.726500', countries: ['South Africa'] },
];
