/** Words without which what is left would say the opposite: "not open on Sundays". */
export const negated =
  /(?<![\p{L}\p{N}])(?:not|no|never|nobody|none|nothing|neither|nor|cannot|except|without|unless|least|hardly|instead|rather)(?![\p{L}\p{N}])|n['’]t(?![\p{L}\p{N}])/iu;

/** A sentence with one of these may name an answer in order to deny it. Fewer words: "no" may be the answer. */
export const denying =
  /\b(?:not|cannot|never|no longer|neither|nor|without|unknown|rather than|instead of|no information)\b|n['’]t\b/iu;
