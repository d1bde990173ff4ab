/** Common names of colours, for patterns. */
export const colourWords =
  '(?:red|blue|green|yellow|orange|black|white|gr[ae]y|brown|purple|pink|violet|turquoise|cream|beige|amber|scarlet|crimson|maroon|burgundy|lilac|mauve|teal|khaki|indigo|magenta)';
export const shadeWords = '(?:dark|light|pale|bright|deep)';
