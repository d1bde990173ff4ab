/** What something is, and everyday members of each kind: a nephew is asked for with "Which relative". */
import { baseFormOf } from './verbs.js';

/** What a thing is that a noun in lower case names; none of a word that is not known. A member may be of two kinds. */
export function kindsOf(noun: string): readonly string[] {
  return kindsOfMembers.get(noun) ?? kindsOfMembers.get(baseFormOf(noun)) ?? [];
}

const membersOfKinds = `
  relative: nephew, niece, uncle, aunt, cousin, grandmother, grandfather, brother, sister, stepfather, stepmother, brother-in-law, sister-in-law, mother-in-law, father-in-law, grandson, granddaughter;
  parent: mother, father, stepmother, stepfather, mum, dad;
  child: son, daughter, boy, girl, toddler, baby;
  instrument: violin, piano, tuba, flute, cello, guitar, trumpet, clarinet, oboe, harp, drum, saxophone, trombone, banjo, viola, organ, accordion, harpsichord, mandolin, bassoon;
  animal: dog, cat, horse, cow, sheep, goat, pig, rabbit, fox, wolf, bear, deer, lion, tiger, elephant, monkey, donkey, camel, otter, badger;
  bird: owl, eagle, robin, sparrow, crow, raven, pigeon, swan, duck, goose, heron, gull, parrot, hawk, falcon, penguin, blackbird, swallow, magpie, chicken;
  fish: salmon, trout, cod, herring, tuna, mackerel, haddock, carp, pike, sardine, eel, halibut, anchovy, sea bass;
  insect: bee, wasp, ant, beetle, butterfly, moth, mosquito, fly, dragonfly, grasshopper, ladybird, locust, cricket, termite;
  reptile: snake, lizard, crocodile, alligator, tortoise, turtle, gecko, iguana, chameleon;
  pet: hamster, guinea pig, goldfish, budgie, puppy, kitten, gerbil;
  young animal: puppy, kitten, lamb, calf, foal, cub, chick, duckling, piglet;
  dog breed: terrier, spaniel, poodle, collie, labrador, greyhound, bulldog, dachshund, beagle, retriever;
  vehicle: car, lorry, truck, van, bus, taxi, tractor, motorbike, bicycle, tram, ambulance, fire engine, jeep, scooter, minibus, limousine, caravan, bulldozer;
  boat: canoe, kayak, yacht, dinghy, rowing boat, ferry, trawler, barge, gondola, lifeboat, raft, punt;
  ship: tanker, steamer, freighter, liner, schooner, frigate, battleship, destroyer, galleon, icebreaker, ferry, trawler;
  aircraft: helicopter, airliner, glider, biplane, hot-air balloon, airship, jet, seaplane, drone;
  profession: doctor, nurse, teacher, lawyer, engineer, architect, accountant, dentist, journalist, surgeon, vet, pharmacist, librarian, solicitor, clerk, barrister, translator, surveyor, economist, photographer;
  trade: carpenter, plumber, electrician, baker, butcher, tailor, blacksmith, bricklayer, stonemason, cobbler, weaver, potter, joiner, roofer, glazier, locksmith, plasterer, miller, cooper, saddler;
  scientist: physicist, chemist, biologist, geologist, astronomer, botanist, zoologist, mathematician, meteorologist, palaeontologist, geneticist, neuroscientist, ecologist;
  artist: painter, sculptor, illustrator, engraver, potter, muralist, printmaker;
  writer: novelist, poet, playwright, essayist, biographer, screenwriter, columnist, dramatist;
  musician: pianist, violinist, guitarist, cellist, drummer, flautist, organist, trumpeter, harpist, saxophonist, bassist;
  performer: actor, actress, singer, dancer, comedian, magician, juggler, acrobat, clown, puppeteer;
  sportsman: footballer, cricketer, boxer, cyclist, swimmer, golfer, jockey, sprinter, gymnast, wrestler, rower, goalkeeper, skier;
  soldier: sergeant, corporal, infantryman, paratrooper, gunner, cavalryman, archer, private;
  military rank: general, colonel, major, lieutenant, sergeant, corporal, admiral, brigadier;
  clergyman: priest, bishop, vicar, rabbi, imam, archbishop, cardinal, parson, curate, chaplain;
  ruler: king, queen, emperor, empress, tsar, sultan, pharaoh, shah, maharaja;
  noble title: duke, duchess, earl, count, countess, baron, baroness, marquis, viscount;
  public office: mayor, governor, senator, president, prime minister, chancellor, councillor, ambassador, sheriff;
  building: church, castle, palace, library, museum, hospital, school, factory, warehouse, hotel, theatre, cathedral, town hall, mill, barn, lighthouse, tower, temple, chapel, courthouse;
  place of worship: church, cathedral, mosque, synagogue, temple, chapel, abbey, shrine;
  shop: bakery, butcher's, pharmacy, bookshop, grocer's, florist's, supermarket, newsagent's, delicatessen, boutique, off-licence;
  home: flat, house, apartment, cottage, bungalow, villa, farmhouse, mansion, terraced house, houseboat, caravan, studio flat;
  room: kitchen, bedroom, bathroom, living room, dining room, cellar, attic, study, hall, lounge, nursery, pantry, classroom, office, laundry room, conservatory;
  furniture: table, chair, sofa, wardrobe, desk, bookcase, bed, cupboard, armchair, sideboard, stool, bench, chest of drawers, dresser;
  appliance: washing machine, dishwasher, fridge, freezer, oven, toaster, kettle, microwave, vacuum cleaner, tumble dryer, blender, iron;
  utensil: knife, fork, spoon, ladle, whisk, spatula, grater, peeler, rolling pin, sieve, tongs;
  container: box, bucket, jar, bottle, barrel, basket, tin, crate, jug, sack, tub, flask, drum, vase;
  drink: tea, coffee, milk, beer, wine, juice, water, lemonade, cocoa, cider, whisky, gin, rum, vodka, champagne, brandy, hot chocolate, cola, sherry;
  alcohol: beer, wine, whisky, gin, rum, vodka, champagne, brandy, cider, sherry;
  fruit: apple, pear, plum, cherry, peach, orange, lemon, banana, grape, strawberry, raspberry, apricot, mango, pineapple, melon, fig, blackberry, lime, grapefruit, kiwi;
  vegetable: carrot, potato, onion, cabbage, leek, pea, bean, spinach, cauliflower, broccoli, turnip, beetroot, celery, parsnip, lettuce, pumpkin, courgette, aubergine, radish, asparagus;
  meat: beef, pork, lamb, chicken, bacon, ham, veal, venison, turkey, duck, sausage, mutton;
  dairy product: milk, butter, cheese, cream, yoghurt, buttermilk;
  grain: wheat, barley, rye, oats, maize, rice, millet, sorghum, buckwheat, spelt;
  spice: cinnamon, nutmeg, ginger, saffron, cumin, turmeric, paprika, cardamom, clove, pepper, cayenne;
  herb: parsley, basil, thyme, rosemary, sage, mint, dill, coriander, oregano, chives, tarragon;
  nut: almond, walnut, hazelnut, cashew, peanut, pistachio, pecan, chestnut;
  dish: soup, stew, curry, pizza, salad, omelette, risotto, lasagne, casserole, pie, paella, goulash;
  dessert: cake, ice cream, trifle, cheesecake, custard, crumble, sorbet, tart, pancake, jelly, brownie, meringue;
  metal: iron, steel, copper, gold, silver, tin, lead, zinc, aluminium, bronze, brass, nickel, titanium, platinum, tungsten, cobalt, chromium;
  wood: oak, pine, beech, ash, walnut, mahogany, teak, cedar, birch, maple, elm, ebony, spruce, bamboo, rosewood, plywood;
  tree: oak, pine, beech, birch, maple, elm, willow, poplar, chestnut, yew, fir, spruce, cedar, sycamore, larch, holly, palm, cypress, hazel, alder;
  flower: rose, tulip, daffodil, lily, daisy, orchid, sunflower, poppy, snowdrop, bluebell, lavender, carnation, violet, crocus, dahlia, marigold, primrose, geranium;
  material: brick, concrete, glass, plastic, marble, granite, clay, slate, sandstone, limestone, rubber, leather, cardboard, steel, stone, timber, plaster, porcelain, ceramic, paper;
  fabric: cotton, wool, silk, linen, velvet, denim, nylon, polyester, tweed, satin, felt, canvas, lace, corduroy, cashmere, muslin, fleece;
  gem: diamond, ruby, emerald, sapphire, pearl, opal, amethyst, topaz, garnet, turquoise;
  gas: oxygen, hydrogen, nitrogen, helium, methane, carbon dioxide, carbon monoxide, neon, argon, chlorine, ammonia, ozone;
  fuel: petrol, diesel, coal, oil, natural gas, kerosene, firewood, peat, charcoal, propane, paraffin;
  colour: red, blue, green, yellow, black, white, brown, grey, orange, purple, pink, turquoise, scarlet, navy, beige, cream, maroon, crimson;
  shape: circle, square, triangle, rectangle, oval, hexagon, cube, sphere, pyramid, cone, cylinder, octagon, pentagon;
  season: spring, summer, autumn, winter;
  part of the day: morning, afternoon, evening, night, midnight, noon, dawn, dusk;
  religious holiday: Christmas, Easter, Ramadan, Passover, Diwali, Hanukkah, Whitsun, Eid;
  sport: football, tennis, cricket, rugby, golf, swimming, hockey, boxing, rowing, basketball, volleyball, skiing, gymnastics, badminton, cycling, baseball, fencing, judo, athletics, wrestling;
  game: chess, draughts, poker, bridge, dominoes, backgammon, bingo, snooker, darts, billiards, hide-and-seek;
  hobby: gardening, fishing, knitting, stamp collecting, photography, birdwatching, hiking, baking, sewing, embroidery, woodworking;
  subject: mathematics, history, geography, physics, chemistry, biology, economics, philosophy, law, medicine, literature, psychology, astronomy, engineering, sociology, theology, botany, linguistics, geology, architecture;
  language: English, French, German, Spanish, Italian, Latin, Greek, Russian, Chinese, Japanese, Arabic, Portuguese, Dutch, Polish, Welsh, Swedish, Turkish, Hebrew, Hindi, Danish;
  religion: Christianity, Islam, Judaism, Buddhism, Hinduism, Sikhism, Catholicism, Protestantism;
  continent: Europe, Asia, Africa, North America, South America, Australia, Antarctica;
  ocean: Atlantic, Pacific, Indian Ocean, Arctic Ocean;
  planet: Mercury, Venus, Mars, Jupiter, Saturn, Uranus, Neptune, Earth;
  disease: malaria, cholera, measles, tuberculosis, influenza, polio, smallpox, typhoid, diabetes, pneumonia, cancer, leprosy, scurvy, asthma, chickenpox, mumps, rabies, dementia, diphtheria, plague;
  symptom: fever, headache, cough, rash, nausea, dizziness, sore throat, tiredness, vomiting, swelling, toothache;
  medicine: aspirin, penicillin, paracetamol, ibuprofen, insulin, morphine, antibiotic, painkiller, antihistamine, quinine;
  body part: arm, leg, hand, foot, knee, shoulder, back, neck, head, elbow, wrist, ankle, hip, thumb, finger, toe, ear, nose, eye, jaw;
  organ: heart, liver, kidney, lung, brain, stomach, bladder, spleen, pancreas, intestine;
  tool: hammer, saw, drill, screwdriver, spanner, axe, chisel, pliers, spade, shovel, rake, wrench, scythe, crowbar, sickle, pickaxe, hoe, trowel, plane;
  weapon: sword, rifle, pistol, dagger, spear, bow, cannon, revolver, bomb, grenade, musket, crossbow, lance, machine gun, missile;
  crime: theft, murder, robbery, burglary, fraud, arson, forgery, smuggling, blackmail, kidnapping, treason, shoplifting, bribery, assault, perjury, manslaughter;
  punishment: fine, prison sentence, exile, execution, probation, community service, detention, suspension, flogging;
  garment: shirt, trousers, skirt, dress, jacket, coat, jumper, cardigan, waistcoat, blouse, scarf, apron, cloak, robe, shorts, suit, jeans, t-shirt, gloves, uniform;
  headgear: hat, cap, helmet, bonnet, beret, turban, crown, hood, bowler hat, top hat;
  footwear: boots, shoes, sandals, slippers, trainers, wellingtons, clogs, high heels;
  jewellery: ring, necklace, bracelet, brooch, earring, pendant, locket, tiara;
  currency: pound, dollar, euro, yen, franc, mark, rouble, krona, peso, rupee, lira;
  weather: rain, snow, fog, storm, hail, thunderstorm, sleet, drizzle, frost, heatwave, gale;
  natural disaster: earthquake, flood, hurricane, drought, tsunami, avalanche, landslide, tornado, volcanic eruption, wildfire;
  body of water: river, lake, pond, reservoir, canal, lagoon, fjord, loch, bay, stream;
  musical work: opera, symphony, concerto, sonata, ballet, requiem, oratorio, quartet, waltz, string quartet, hymn, song;
  music style: jazz, blues, rock, folk, hip-hop, reggae, punk, country, techno, soul;
  dance: waltz, tango, ballet, polka, salsa, foxtrot, flamenco, samba, rumba, jive;
  voice type: soprano, tenor, alto, baritone, bass, contralto, mezzo-soprano;
  play: comedy, tragedy, musical, farce, pantomime, melodrama;
  publication: book, newspaper, magazine, journal, pamphlet, newsletter, leaflet, novel, textbook, dictionary, encyclopedia;
  book: novel, memoir, biography, autobiography, textbook, dictionary, atlas, cookbook, thriller, manual;
  device: laptop, tablet, smartphone, printer, scanner, keyboard, mouse, monitor, router, camera, webcam, projector, radio, television, thermostat;
  document: passport, contract, certificate, receipt, invoice, driving licence, visa, will, permit, birth certificate, report, memo, deed;
  fee: rent, toll, fare, postage, admission, deposit, subscription, surcharge, membership fee;
  family event: wedding, funeral, birthday, christening, engagement, anniversary, divorce, baptism;
`;

const kindsOfMembers = new Map<string, string[]>();
for (const line of membersOfKinds.trim().split('\n')) {
  const [kind = '', members = ''] = line.trim().slice(0, -1).split(': ');
  for (const member of members.toLowerCase().split(', ')) {
    kindsOfMembers.set(member, [...(kindsOfMembers.get(member) ?? []), kind]);
  }
}
