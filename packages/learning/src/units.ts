/** What a value measures, by the unit at its end (or the currency sign before it), in lower case. */
export const mass = /\b(?:kg|kilograms?|kilos?|grams?|g|tonnes?|tons?|t)$/u;
export const length =
  /\b(?:mm|cm|m|km|millimet\w+|centimet\w+|metres?|meters?|kilomet\w+|miles?|feet|foot|inch\w*|yards?)$/u;
export const area = /\bsquare \p{Ll}+$|\bhectares?$|\bacres?$/u;
export const duration = /\b(?:seconds?|minutes?|min|hours?|days?|nights?|weeks?|months?|years?|decades?)$/u;
export const money = /^[$€£¥₹]|\b(?:dollars?|euros?|pounds?|cents?|crowns?|francs?|yen|rupees?|pence)$/u;
export const percentage = /(?:%|percent|per cent)$/u;
