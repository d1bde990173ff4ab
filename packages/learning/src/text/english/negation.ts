/** Words that turn a sentence into its opposite if they are left out: "not open on Sundays". */
export const negated =
  /(?<![\p{L}\p{N}])(?:not|no|never|nobody|none|nothing|neither|nor|cannot|except|without|unless|least|hardly|instead|rather)(?![\p{L}\p{N}])|n['’]t(?![\p{L}\p{N}])/iu;

/** Words with which a sentence may name an answer in order to deny it. They are fewer: "no" may be the answer. */
export const denying =
  /\b(?:not|cannot|never|no longer|neither|nor|without|unknown|rather than|instead of|no information)\b|n['’]t\b/iu;
