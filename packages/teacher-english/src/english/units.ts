/** Patterns for the unit at the end of a value, or the currency sign before it, in lower case. */
export const massUnit = /\b(?:kg|kilograms?|kilos?|grams?|g|tonnes?|tons?|t)$/u;
export const lengthUnit =
  /(?<!(?:square|cubic) )\b(?:mm|cm|m|km|millimet\w+|centimet\w+|metres?|meters?|kilomet\w+|miles?|feet|foot|inch\w*|yards?)$/u;
export const areaUnit = /\bsquare \p{Ll}+$|\bhectares?$|\bacres?$/u;
export const durationUnit = /\b(?:seconds?|minutes?|min|hours?|days?|nights?|weeks?|months?|years?|decades?)$/u;
export const moneyUnit =
  /^[$€£¥₹]|[$€£¥₹]$|\b(?:usd|eur|gbp|chf)\b|\b(?:dollars?|euros?|pounds?|cents?|crowns?|francs?|yen|rupees?|pence)$/u;
export const percentUnit = /(?:%|percent|per cent)$/u;
export const speedUnit =
  /\b(?:km\/h|mph|m\/s|knots?|(?:km|m|kilomet\w+|miles|metres|meters) (?:an?|per) (?:hour|second))$/u;
export const temperatureUnit = /(?:°[cf]?|\bdegrees?(?: celsius| fahrenheit)?)$/u;

/** Any of the commonest units. */
export const unit = new RegExp(
  [massUnit, lengthUnit, durationUnit, moneyUnit].map(({ source }) => source).join('|'),
  'u',
);
