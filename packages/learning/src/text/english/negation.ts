/** Words without which what is left would say the opposite: "not open on Sundays". */
export const negated =
  /(?<![\p{L}\p{N}])(?:not|no|never|nobody|none|nothing|neither|nor|cannot|except|without|unless|least|hardly|instead|rather)(?![\p{L}\p{N}])|n['’]t(?![\p{L}\p{N}])/iu;
