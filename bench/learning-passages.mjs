// Invented passages, each fact with questions a person would ask in other words than the passage's.

/** @type {{ name: string, text: string, questions: [string, string[]][] }[]} answer, then ways of asking */
export const passages = [
  {
    name: 'lamp',
    text: 'The Lume Lamp is a desk lamp made by Orin Works. Orin Works has its workshop in Porto. The Lume Lamp weighs 1.2 kilograms. It was designed by Maria Ochoa in 2019. The battery of the Lume Lamp lasts 12 hours. The lamp costs 49 dollars and comes in green.',
    questions: [
      ['Orin Works', ['Which company makes the Lume Lamp?', 'Who manufactures the Lume Lamp?']],
      ['Porto', ['Where is Orin Works based?', 'In which city is the workshop of Orin Works?']],
      ['1.2 kilograms', ['How heavy is the Lume Lamp?', 'What is the weight of the Lume Lamp?']],
      ['Maria Ochoa', ['Who designed the Lume Lamp?', 'Who is the designer of the Lume Lamp?']],
      ['2019', ['In what year was the Lume Lamp designed?', 'When was the Lume Lamp designed?']],
      ['12 hours', ['How long does the Lume Lamp run on its battery?', 'What is the battery life of the Lume Lamp?']],
      ['49 dollars', ['How much does the Lume Lamp cost?', 'What is the price of the Lume Lamp?']],
    ],
  },
  {
    name: 'bakery',
    text: 'Nina Falk owns a small bakery called Golden Crust. The bakery stands on Harbour Street in Malden. Golden Crust opened in 2008. It opens at 6 am every day except Monday. Nina employs four people. Her best-known cake is the plum tart, which costs 3 euros. The flour comes from the mill of Tom Bray.',
    questions: [
      ['Nina Falk', ['Who is the owner of Golden Crust?', 'Who owns Golden Crust?']],
      ['Harbour Street', ['On which street is Golden Crust?', 'What street does Golden Crust stand on?']],
      ['2008', ['When did Golden Crust open?', 'In which year was Golden Crust opened?']],
      ['6 am', ['At what time does Golden Crust open?', 'What time does the bakery Golden Crust open in the morning?']],
      ['four people', ['How many people work for Nina Falk?', 'How many people does Nina Falk employ?']],
      ['plum tart', ['What is the best-known cake of Golden Crust?', 'Which cake is Golden Crust known for?']],
      ['Tom Bray', ['Whose mill does the flour of Golden Crust come from?', 'Who makes the flour for Golden Crust?']],
    ],
  },
  {
    name: 'ship',
    text: 'The Grey Heron is a research ship. It was built in Gdansk in 1994 and is 62 metres long. The captain of the Grey Heron is Elena Markov. The ship carries a crew of 28 people. Its home port is Bergen. The Grey Heron studies whales in the Arctic. Its top speed is 15 knots.',
    questions: [
      ['Gdansk', ['Where was the Grey Heron built?', 'In which city was the Grey Heron made?']],
      ['1994', ['When was the Grey Heron built?', 'In what year was the Grey Heron built?']],
      ['62 metres', ['How long is the Grey Heron?', 'What is the length of the Grey Heron?']],
      ['Elena Markov', ['Who is the captain of the Grey Heron?', 'Who commands the Grey Heron?']],
      ['28 people', ['How many people are in the crew of the Grey Heron?', 'How big is the crew of the Grey Heron?']],
      ['Bergen', ['What is the home port of the Grey Heron?', 'Which port is home to the Grey Heron?']],
      ['whales', ['What does the Grey Heron study?', 'Which animals are studied by the Grey Heron?']],
      ['15 knots', ['How fast can the Grey Heron go?', 'What is the top speed of the Grey Heron?']],
    ],
  },
  {
    name: 'school',
    text: 'Millbrook School was founded in 1921 by Alice Warren. The school is in the town of Dunmore and has 340 pupils. Its head teacher is Peter Lowe. The school motto is "Learn by doing". Lessons start at 8:30. The school garden was planted by Rosa Lind. Every June the pupils give a concert in the town hall.',
    questions: [
      ['1921', ['When was Millbrook School founded?', 'In which year did Millbrook School begin?']],
      ['Alice Warren', ['Who founded Millbrook School?', 'Who was the founder of Millbrook School?']],
      ['Dunmore', ['In which town is Millbrook School?', 'Where is Millbrook School?']],
      ['340 pupils', ['How many pupils does Millbrook School have?', 'How many children go to Millbrook School?']],
      ['Peter Lowe', ['Who is the head teacher of Millbrook School?', 'Who leads Millbrook School?']],
      ['Learn by doing', ['What is the motto of Millbrook School?', 'What does the motto of Millbrook School say?']],
      ['8:30', ['At what time do lessons start at Millbrook School?', 'When do lessons at Millbrook School begin?']],
      [
        'Rosa Lind',
        ['Who planted the garden of Millbrook School?', 'By whom was the garden of Millbrook School planted?'],
      ],
    ],
  },
  {
    name: 'office',
    text: 'Our office in Tarnow closes at 5 pm on Fridays. The door code is 4471. The printer on the second floor is called Bruno. Invoices go to Carla Voss in accounting. The Wi-Fi password is bluefox22. Holiday requests must be sent two weeks in advance. Daniel Roth takes care of the parking places.',
    questions: [
      [
        '5 pm',
        ['When does the office in Tarnow close on Fridays?', 'At what time does the Tarnow office close on Fridays?'],
      ],
      ['4471', ['What is the door code of the office in Tarnow?', 'Which code opens the door?']],
      ['Bruno', ['What is the printer on the second floor called?', 'What is the name of the printer?']],
      ['Carla Voss', ['Who gets the invoices?', 'Who should invoices be sent to?']],
      ['bluefox22', ['What is the Wi-Fi password?', 'What is the password for the Wi-Fi?']],
      ['two weeks', ['How far in advance must holiday requests be sent?', 'How early must I ask for a holiday?']],
      ['Daniel Roth', ['Who takes care of the parking places?', 'Who is responsible for parking?']],
    ],
  },
  {
    name: 'artist',
    text: 'Ivo Kranz is a painter from Linz. He was born on 3 March 1962. Ivo Kranz studied in Vienna under Helga Baum. His most famous painting is "The Red Ferry". The Red Ferry hangs in the Morton Museum. The museum bought it for 80,000 euros. Ivo Kranz lives with his brother Emil and two cats.',
    questions: [
      ['Linz', ['Where is Ivo Kranz from?', 'Which city does Ivo Kranz come from?']],
      ['3 March 1962', ['When was Ivo Kranz born?', 'What is the date of birth of Ivo Kranz?']],
      ['Vienna', ['Where did Ivo Kranz study?', 'In which city did Ivo Kranz study?']],
      ['Helga Baum', ['Who taught Ivo Kranz?', 'Who was the teacher of Ivo Kranz?']],
      ['The Red Ferry', ['What is the most famous painting of Ivo Kranz?', 'Which painting is Ivo Kranz famous for?']],
      ['Morton Museum', ['Where does The Red Ferry hang?', 'In which museum is The Red Ferry?']],
      ['80,000 euros', ['How much did the museum pay for The Red Ferry?', 'What was the price of The Red Ferry?']],
      ['Emil', ['What is the name of the brother of Ivo Kranz?', 'Who is the brother of Ivo Kranz?']],
    ],
  },
  {
    name: 'park',
    text: 'Sorrel Park lies north of the village of Kesten. The park covers 90 hectares. It was opened in 1977 by the mayor, Otto Brandt. The oldest tree in Sorrel Park is an oak that is 600 years old. A ticket for Sorrel Park costs 4 pounds. The lake in the park is called Mirror Lake. Dogs are not allowed in May.',
    questions: [
      ['Kesten', ['Which village is Sorrel Park near?', 'What village does Sorrel Park lie north of?']],
      ['90 hectares', ['How large is Sorrel Park?', 'What area does Sorrel Park cover?']],
      ['1977', ['When was Sorrel Park opened?', 'In what year did Sorrel Park open?']],
      ['Otto Brandt', ['Who opened Sorrel Park?', 'Who was the mayor that opened Sorrel Park?']],
      [
        '600 years',
        ['How old is the oldest tree in Sorrel Park?', 'What is the age of the oldest tree in Sorrel Park?'],
      ],
      ['4 pounds', ['How much is a ticket for Sorrel Park?', 'What is the price of a ticket for Sorrel Park?']],
      ['Mirror Lake', ['What is the lake in Sorrel Park called?', 'What is the name of the lake in Sorrel Park?']],
    ],
  },
  {
    name: 'startup',
    text: 'Velona is a software company in Ghent. It was started in 2015 by Sara Deck and Jon Pell. Velona has 75 employees. Its main product is Tidemap, a program that predicts floods. Tidemap is used in nine countries. In 2022 the company moved to a new building on Canal Road. The chief engineer of Velona is Amara Obi.',
    questions: [
      ['Ghent', ['Where is Velona located?', 'In which city is Velona?']],
      ['2015', ['When was Velona started?', 'In what year was Velona founded?']],
      ['75 employees', ['How many employees does Velona have?', 'How many people work at Velona?']],
      ['Tidemap', ['What is the main product of Velona?', 'Which product does Velona make?']],
      ['floods', ['What does Tidemap predict?', 'What can Tidemap predict?']],
      ['nine countries', ['In how many countries is Tidemap used?', 'How many countries use Tidemap?']],
      ['Canal Road', ['On which road is the new building of Velona?', 'Where did Velona move in 2022?']],
      ['Amara Obi', ['Who is the chief engineer of Velona?', 'Who is the head of engineering at Velona?']],
    ],
  },
];
