/** Nouns that describe a thing, and so rarely name one. */
const attributes = new Set(
  `access accuracy address age amount area author availability bandwidth battery birthday bonus brand bundle calories
  capacity capital category charge charger city class climate clearance code colour color comment connection
  connectivity consumption contact container content contents contract cost count country coverage currency
  currencies date deadline delivery density department deposit depth description designer destination
  diameter dimension dimensions director discount display distance due duration email energy engine expiry extension
  fax fee fees fibre finish floor format frequency fuel gender genre guarantee head height home hours humidity
  inclusions ingredient ingredients integration integrations interest interface job keeper kind language languages
  latency lead leader length level licence license life limit limits location login maker manager manufacturer
  material maximum memory minimum mode model monthly name nationality noise number occupation occupancy office
  opening options order origin output owner pack package payment percentage period phone population port ports
  position postcode power premium pressure price prices pricing processor producer profession profit protein
  protocol publisher quality quantity range rate rates rating refresh release rent report resolution responsibility
  retention role salary sales schedule score screen seats security sensor service shape shipping size sizes sla
  speed stages start status stock storage street style subject sugar supplier support surface symptom tariff tax
  team telephone temperature term terms throughput time times title torque total trial turnaround type unit units
  updates uptime use user users validity value vendor version visibility voltage volume wage warranty water website
  weight width yield zone`
    .split(/\s+/u)
    .filter((word) => word !== ''),
);

/** "Price per month", "Max. room size", "Users included": the last or first word before a preposition decides. */
export function isAttribute(label: string): boolean {
  const [head = ''] = label.split(/ (?:per|of|in|for|to|from|at|on|by|with)\b|[(,:/]/u);
  const words = head.toLowerCase().match(/\p{L}+/gu) ?? [];
  return attributes.has(words.at(-1) ?? '') || attributes.has(words[0] ?? '');
}
