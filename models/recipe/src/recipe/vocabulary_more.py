"""Further kinds of values: large lists of words, and phrases composed of them.

A tenth of the words of an open list, but at least seven, is held out by the same hash as names are. Closed lists (units,
number words) are too small to be cut. Phrases name other kinds in braces; `Vocabulary.phrase` fills them.
"""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return [word.replace("_", " ") for word in text.split()]


OPEN_LISTS: dict[str, list[str]] = {
    name: _words(words)
    for name, words in {
        "wood": """oak pine birch maple ash elm walnut cherry cedar larch beech teak ebony mahogany poplar willow spruce yew
            rosewood olive_wood plum_wood chestnut bamboo hazel juniper""",
        "matter": """bronze brass copper silver pewter clay terracotta porcelain glass amber ivory marble alabaster jade horn
            leather parchment felt linen silk velvet wool wax tin iron steel lead granite basalt slate coral obsidian soapstone
            stainless_steel cast_iron recycled_plastic carbon_fibre limestone sandstone plaster concrete bone enamel gold_leaf""",
        "object": """door bench table chest cradle box ladder mask bowl jug plate spoon comb necklace ring buckle sword shield
            helmet drum flute lamp candlestick mirror clock compass globe telescope map banner tapestry curtain carpet blanket
            quilt coat cloak apron hat saddle cart sledge barrel basket bucket kettle pan stove anvil hammer saw plough
            spinning_wheel loom printing_press sundial weathervane bell birdcage chair cabinet desk bookcase lantern umbrella
            puppet doll kite chessboard violin_case typewriter music_box statue fountain gate fence staircase balcony""",
        "quality": """carved painted broken heavy tiny huge round narrow polished rusty folding wooden portable engraved dented
            ancient plain simple elegant crooked restored gilded striped hand-made three-legged foldable waterproof lightweight
            half-finished shiny cracked patched borrowed antique woven hollow square tall low hidden""",
        "goods": """coins candles spices furs books shoes bricks nails tiles rugs pearls apples barrels toys hats gloves jars
            stamps flags lamps boots ropes tents bottles seeds tulips scarves plates bicycles umbrellas tools knives needles
            ribbons maps pencils mirrors blankets baskets sails feathers hides clocks engines tyres batteries cushions""",
        "dish_name": """lamb_stew onion_soup fish_pie mushroom_risotto potato_dumplings roast_duck bean_salad cheese_toast
            fried_rice beef_noodles pumpkin_soup vegetable_curry apple_tart plum_cake grilled_trout stuffed_peppers lentil_soup
            chicken_broth spinach_pie rye_bread honey_cake pancakes cabbage_rolls tomato_soup baked_apples crab_sandwiches
            almond_biscuits rice_pudding leek_tart garlic_bread barley_porridge cinnamon_buns pickled_herring goat_curry
            lemon_sorbet walnut_bread nettle_soup waffles sausages smoked_eel""",
        "ingredient": """flour sugar salt yeast cinnamon nutmeg thyme parsley dill basil mint saffron cumin paprika vinegar
            mustard cream buttermilk yoghurt honey olive_oil lard raisins almonds hazelnuts walnuts lemon_juice orange_peel
            tomatoes leeks celery beetroot turnips peas lentils rice oats rye semolina cocoa vanilla rosewater eggs bacon ham
            chicken lamb veal cod mussels anchovies capers horseradish red_wine cider coconut_milk soy_sauce maple_syrup""",
        "profession": """optician surveyor locksmith beekeeper glassblower notary midwife baker bookbinder tailor cartographer
            stonemason chimney_sweep tram_driver vet pharmacist goldsmith lighthouse_keeper interpreter firefighter cobbler
            radio_operator train_driver florist butcher roofer bricklayer piano_tuner bell_founder hairdresser psychologist
            accountant economist auctioneer ski_instructor court_clerk zoologist botanist astronomer historian novelist sculptor
            playwright conductor organist electrician glazier upholsterer sommelier park_ranger diver stage_designer statistician
            physiotherapist taxi_driver shipbuilder watchmaker cheesemaker puppeteer shepherd customs_officer""",
        "position": """chief_accountant head_nurse night_porter deputy_director site_manager warehouse_clerk office_manager
            chief_engineer legal_adviser press_officer head_gardener sales_manager data_analyst test_engineer head_librarian
            safety_officer personnel_manager regional_manager shift_leader ticket_inspector head_of_research head_chef
            school_secretary project_coordinator system_administrator security_guard museum_guide treasurer team_leader
            quality_manager product_designer store_manager research_assistant choir_director museum_curator lab_technician""",
        "pastime": """kite_flying stamp_collecting orienteering bookbinding salsa_dancing open-air_painting beekeeping
            rock_climbing model_building wood_carving mushroom_picking crossword_puzzles folk_dancing calligraphy juggling
            long-distance_running ice_skating stargazing birdwatching quilting canoeing gardening home_brewing fly_fishing
            chess_problems vintage_cars amateur_theatre card_tricks choral_singing cross-country_skiing bread_baking knitting
            metal_detecting origami yoga table_tennis sea_swimming horse_riding snorkelling""",
        "field": """marine_biology organic_chemistry medieval_history linguistics number_theory soil_science glass_physics
            crop_rotation bird_migration ocean_currents sleep_research machine_translation battery_chemistry urban_planning
            public_health tax_law art_history music_theory bee_diseases glacier_melting volcano_research food_safety
            plant_genetics earthquake_prediction child_psychology land_surveying robotics cryptography game_theory
            textile_design paper_restoration epidemiology water_treatment nutrition theology philosophy archaeology astronomy
            algebra statistics bookkeeping navigation typography carpentry first_aid Roman_law optics acoustics ethics""",
        "beast": """marten lynx otter hare vole stoat weasel marmot chamois ibex elk bison boar heron stork crane plover curlew
            kingfisher wren nightingale osprey buzzard kestrel puffin gannet gull cormorant newt toad salamander viper gecko
            iguana turtle carp perch eel pike sturgeon mackerel herring squid octopus lobster crab beetle dragonfly moth cricket
            hornet ant spider scorpion snail jellyfish seal walrus dolphin porpoise bat mole shrew squirrel porcupine antelope
            gazelle zebra hyena jackal leopard mongoose lemur gibbon macaque tapir armadillo sloth wombat""",
        "prey": """small_fish beetles field_mice earthworms berries acorns moss seaweed mosquitoes snails frogs grass_seeds nectar
            ants fallen_fruit shellfish tree_bark spiders caterpillars lizards pine_cones plankton young_leaves roots rotting_wood
            grasshoppers bird_eggs tadpoles mushrooms clover shrimps""",
        "habitat": """damp_meadows pine_forests rocky_coasts salt_marshes dry_grassland mountain_streams old_orchards deep_caves
            coral_reefs reed_beds sand_dunes high_moorland city_parks hedgerows mangrove_swamps bamboo_thickets frozen_lakes
            chalk_cliffs river_banks tropical_rainforests stony_deserts peat_bogs beech_woods alpine_pastures hot_springs
            abandoned_quarries oak_forests flooded_fields""",
        "ailment": """headaches hay_fever a_sore_throat high_blood_pressure sleeplessness asthma back_pain toothache a_dry_cough
            eczema migraine gout anaemia seasickness indigestion arthritis ear_infections sunburn malaria diabetes bronchitis
            muscle_cramps heartburn nettle_rash travel_sickness joint_pain stomach_ulcers an_irregular_heartbeat conjunctivitis
            nosebleeds athlete's_foot fever tonsillitis""",
        "side_effect": """dizziness dry_mouth nausea drowsiness a_skin_rash loss_of_appetite blurred_vision tiredness
            stomach_pain itching trembling_hands hair_loss a_metallic_taste night_sweats mild_fever restlessness hiccups
            swollen_ankles ringing_in_the_ears weight_gain joint_stiffness sensitivity_to_light vivid_dreams a_runny_nose""",
        "plant_name": """lavender foxglove heather thistle primrose bluebell ivy clover sorrel yarrow chamomile poppy tulip
            daffodil iris crocus snowdrop hyacinth jasmine honeysuckle magnolia camellia azalea gorse broom bracken fern
            horsetail nettle dandelion buttercup marigold sunflower peony dahlia aster rosemary sage wormwood hellebore""",
        "programming_language": """Rust Python Go Java Kotlin Haskell Ruby Perl Erlang Elixir Fortran Scala Swift Lua Julia OCaml
            TypeScript Zig Ada Clojure Dart Pascal Prolog C C++ PHP""",
        "software_term": """a_memory_leak a_race_condition dark_mode offline_search a_plugin_system two-factor_login
            automatic_backups keyboard_shortcuts full-text_search a_progress_bar batch_import spell_checking voice_input
            a_command-line_client a_REST_interface single_sign-on end-to-end_encryption live_preview map_export audit_logs
            rate_limiting webhooks right-to-left_text table_sorting undo_history PDF_export cursor_paging a_health_check
            streaming_uploads incremental_builds response_caching user_roles calendar_sync crash_reports""",
        "file_format": """CSV JSON XML YAML Parquet PNG PDF SVG Markdown TOML FLAC WAV Avro LaTeX BibTeX ZIP HTML DOCX EPUB GeoJSON
            SQLite Protobuf TIFF""",
        "licence": """the_MIT_licence the_Apache_licence the_BSD_licence the_GPL the_Mozilla_licence the_ISC_licence
            the_Eclipse_licence a_commercial_licence the_LGPL the_AGPL a_free_licence the_zlib_licence the_public_domain""",
        "system": """Linux Windows macOS Android FreeBSD OpenBSD Solaris Haiku Debian Fedora Ubuntu iOS Alpine_Linux
            Raspberry_Pi_OS ChromeOS NetBSD""",
        "film_genre": """comedy thriller western documentary horror science_fiction fantasy romance crime_drama musical farce
            war_film road_movie silent_film biography courtroom_drama spy_film family_film adventure disaster_film""",
        "song_genre": """ballad lullaby waltz march polka jazz folk blues tango disco punk reggae gospel electronic_pop swing
            country soul bluegrass chamber_music samba heavy_metal hip_hop""",
        "book_genre": """comedy horror science_fiction fantasy romance crime_fiction biography poetry travel_writing history
            satire children's_literature drama philosophy adventure memoir folklore cookery thrillers popular_science""",
        "style": """Baroque Gothic Romanesque Rococo Renaissance Art_Nouveau Art_Deco neoclassical modernist Cubist
            Impressionist Expressionist Byzantine Brutalist Tudor Victorian Norman Mannerist Futurist Bauhaus Gothic_Revival
            Georgian Surrealist Romantic""",
        "technique": """oil_on_canvas tempera_on_wood watercolour charcoal pastel gouache fresco ink_on_silk coloured_pencil
            oil_on_copper lithography etching woodcut mosaic acrylic_on_cardboard red_chalk pen_and_ink encaustic silkscreen
            enamel_on_tin""",
        "motif": """a_sleeping_shepherd three_fishermen a_bowl_of_cherries a_stormy_harbour a_woman_at_a_window a_winter_market
            the_painter's_mother a_dead_hare a_burning_mill two_chess_players a_girl_with_a_lute a_blind_beggar a_wedding_feast
            an_empty_street a_white_horse the_harvest_moon a_card_game a_ship_in_ice a_boy_with_a_kite a_rainy_square
            an_old_gardener a_masked_ball the_fall_of_a_city a_field_of_poppies dancing_peasants a_saint_in_prison""",
        "weather": """heavy_rain light_snow thick_fog thunderstorms hail strong_winds drizzle black_ice clear_skies scattered_showers
            a_heatwave a_late_frost freezing_rain a_sandstorm sleet gales morning_mist a_long_drought bright_sunshine
            a_cold_spell blizzards high_humidity floods""",
        "trouble": """heavy_rain a_lack_of_money a_strike a_broken_axle a_power_cut staff_illness a_missing_permit a_fallen_tree
            engine_trouble a_burst_pipe thick_fog a_computer_error a_late_delivery rising_costs a_bomb_scare a_water_leak
            road_works a_wasp_plague a_printing_mistake low_demand an_outbreak_of_flu a_lost_key a_landslide a_royal_visit
            an_unpaid_bill a_court_order poor_ticket_sales a_shortage_of_parts a_family_wedding security_concerns
            a_broken_lift a_swarm_of_bees a_leaking_roof an_election""",
        "issue": """new_windows higher_wages the_car_park the_summer_party working_hours the_canteen_menu the_school_roof
            parking_fees street_lighting noise_at_night the_new_website the_budget staff_training dog_leads the_swimming_pool
            data_protection the_bus_timetable rubbish_collection the_heating the_anniversary membership_fees a_cycle_path
            the_harbour_wall playground_safety the_water_supply flood_protection the_merger a_new_logo the_library_hours""",
        "benefit": """a_company_car free_lunches thirty_days_of_leave a_training_budget flexible_hours a_staff_flat free_parking
            a_monthly_rail_pass a_laptop a_gym_membership an_annual_bonus a_pension_plan remote_work language_lessons
            a_relocation_allowance a_bicycle free_childcare a_clothing_allowance health_insurance profit_sharing""",
        "requirement": """a_driving_licence two_references a_valid_passport a_signed_form a_medical_certificate proof_of_address
            a_university_degree five_years_of_experience a_diving_certificate good_Spanish a_clean_record a_student_card
            a_deposit a_written_request fluent_Polish a_first-aid_certificate a_reservation strong_boots a_life_jacket
            a_library_card a_forklift_licence knowledge_of_accounting perfect_eyesight a_birth_certificate a_password
            a_photo_identity_card""",
        "forbidden": """dogs smoking glass_bottles open_fires bicycles photography drones loud_music camping fishing swimming chewing_gum
            mobile_phones large_bags skateboards fireworks alcohol private_phone_calls umbrellas high_heels ball_games perfume
            street_food horse_riding battery_chargers hot_drinks visitors_under_sixteen""",
        "equipment": """a_sauna a_roof_terrace an_indoor_pool free_wireless_internet a_library a_billiard_room a_tennis_court
            a_private_beach bicycle_hire a_wine_cellar a_playground an_airport_shuttle a_hairdresser a_chapel a_cinema_room
            a_rose_garden a_steam_bath a_ski_room a_bowling_alley a_boathouse a_conference_room an_underground_garage""",
        "landmark": """the_old_mill the_northern_gate the_stone_bridge the_fish_market the_town_hall the_railway_station
            the_post_office the_castle_ruins the_ferry_landing the_war_memorial the_botanical_garden the_harbour_wall the_chapel
            the_swimming_pool the_cattle_market the_lower_gate the_water_tower the_bus_depot the_paper_mill the_city_wall
            the_university the_theatre the_football_ground the_monastery the_cemetery the_lock the_signal_box the_boathouse
            the_brewery the_sawmill the_salt_works the_fire_station the_school""",
        "part": """the_upper_hall the_west_wing the_first_floor the_cellar the_east_gallery the_glass_pavilion the_main_courtyard
            the_reading_room the_back_garden the_south_tower the_attic the_music_room the_old_stables the_entrance_hall
            the_blue_room the_north_aisle the_conference_room the_second_floor the_orangery the_crypt the_ballroom the_west_porch
            the_meeting_room the_lecture_hall the_treasury the_ground_floor""",
        "trait": """loyal stubborn shy generous curious patient cheerful grumpy playful fearless clumsy gentle nervous greedy
            proud lazy clever quiet talkative vain polite reckless thrifty punctual absent-minded ambitious modest strict""",
        "mineral_name": """calcite fluorite topaz garnet opal agate malachite hematite pyrite feldspar olivine beryl zircon
            turquoise tourmaline apatite galena cinnabar barite dolomite magnetite selenite lapis_lazuli onyx rhodonite azurite
            serpentine talc cassiterite bauxite""",
        "crop_name": """wheat barley rye oats maize potatoes sugar_beet hops grapes cherries plums apricots olives hazelnuts chestnuts
            lentils soybeans peas carrots onions cabbages tomatoes pumpkins strawberries blackcurrants rapeseed flax tobacco
            saffron almonds lemons rice millet sorghum lavender""",
        "pest": """late_frost hailstones fruit_flies locusts mildew wild_boar starlings field_mice potato_beetles rust_fungus
            wasps root_rot slugs aphids greenfly deer cherry_moths drought blight bark_beetles""",
        "craft": """basket_weaving lace_making glass_blowing cheese_making wood_carving shipbuilding silver_mining bell_founding
            pottery watchmaking paper_making salt_boiling cloth_dyeing horse_breeding sword_making herring_fishing
            charcoal_burning brewing wine_growing rope_making carpet_weaving toy_making bee_keeping violin_making""",
        "delicacy": """smoked_cheese plum_brandy salted_almonds ginger_biscuits sheep's_milk_cheese dried_figs elderflower_wine
            chestnut_honey blood_sausage rose_jam pickled_walnuts herring_salad birch_syrup apple_cider poppy-seed_cake
            truffle_butter sour_cherries garlic_sausage barley_beer quince_jelly smoked_ham pear_bread fish_soup nougat
            juniper_gin oyster_pie""",
        "reader_group": """beginners retired_people young_parents school_leavers nurses children_under_ten office_workers sailors
            teachers new_employees students_of_law amateur_painters unemployed_miners small_farmers foreign_guests local_residents
            engineers choir_singers families hikers first-year_students visiting_scholars lorry_drivers tourists""",
        "craft_verb": """repair paint rent sell buy insure restore move measure replace clean photograph lock inspect rebuild
            enlarge auction redesign label count""",
        "charity": """the_children's_hospital the_fire_brigade the_animal_shelter the_flood_victims the_village_school
            the_lifeboat_service the_food_bank the_church_roof the_orphanage the_mountain_rescue the_refugee_centre
            the_hospice the_youth_orchestra the_public_library the_cancer_ward the_homeless_shelter""",
        "prize_object": """a_golden_spoon a_silver_cup a_week_in_the_mountains a_new_bicycle a_basket_of_fruit a_trip_to_the_sea
            a_box_of_chocolates a_signed_guitar a_bronze_medal a_wooden_shield a_barrel_of_beer a_gold_watch a_laurel_wreath
            a_leather_saddle a_book_voucher a_crystal_bowl a_month_of_free_bread""",
        "vehicle_kind": """tram bus van lorry taxi motorcycle ferry sledge bicycle horse_cart minibus cable_car tractor hovercraft
            helicopter submarine monorail barge rowing_boat moped camper_van fire_engine""",
        "belief": """the_rain_god an_iron_crown good_luck eternal_friendship the_four_winds courage a_lost_love the_founding_of_the_city
            the_spring_sun peace freedom the_hunter's_moon a_drowned_king justice the_harvest motherhood wisdom
            a_broken_promise the_river_goddess death""",
    }.items()
}  # fmt: skip

CLOSED_LISTS: dict[str, list[str]] = {
    name: _words(words)
    for name, words in {
        "small": "two three four five six seven eight nine ten eleven twelve fourteen fifteen twenty thirty forty",
        "month_name": "January February March April May June July August September October November December",
        "season": "spring summer autumn winter early_spring late_summer early_autumn midwinter",
        "direction": "north south east west north-east north-west south-east south-west",
        "frequency": """once_a_week twice_a_week every_day once_a_month twice_a_year every_two_years once_a_year
            three_times_a_day every_other_day every_six_months every_four_hours every_quarter four_times_a_year every_night
            every_ten_years every_hour""",
        "ordinal": """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fifteenth
            twentieth second-to-last last""",
        "weekday_time": """Monday_morning Tuesday_evening Wednesday_afternoon Thursday_night Friday_afternoon Saturday_morning
            Sunday_evening Monday_night Tuesday_morning Thursday_evening""",
        "currency": "euros dollars pounds crowns francs marks yen rupees pesos zloty lira rubles guilders dinars",
        "symbol": "€ $ £ ¥",
        "domain": "com org net info example",
        "street_kind": "Street Road Lane Avenue Square Hill Row Quay Alley Gardens Boulevard",
        "fraction": """a_third two_thirds a_quarter three_quarters half one_in_five one_in_ten nearly_half a_tenth four_fifths
            a_fifth""",
        "vote": "unanimously by_a_narrow_majority by_a_show_of_hands by_secret_ballot with_two_votes_against",
        "crystal": "cubic hexagonal trigonal monoclinic orthorhombic tetragonal triclinic amorphous",
        "star_colour": "red blue white yellow orange reddish bluish-white pale_yellow",
        "form": "tablets capsules drops a_syrup an_ointment a_spray a_powder injections a_cream lozenges",
        "state": "broken missing too_small too_heavy stolen unfinished wet not_ready locked",
        "clock_hour": "one two three four five six seven eight nine ten eleven",
        "meal": "before_breakfast after_meals with_a_glass_of_water at_bedtime on_an_empty_stomach with_warm_milk after_dinner",
    }.items()
}  # fmt: skip

PHRASES: dict[str, list[str]] = {
    "thing_phrase": ["a {quality} {matter} {object}", "a {quality} {object}", "a {matter} {object}", "a {wood} {object}",
                     "a {colour} {object}", "a {quality} {wood} {object}", "a {colour} {matter} {object}"],
    "goods_phrase": ["{matter} {goods}", "{colour} {goods}", "{goods}", "{quality} {goods}", "{goods} and {goods}"],
    "span": ["{2-48} months", "{small} years", "{2-30} years", "{small} months", "two and a half years", "a year and a half",
             "{2-90} days", "{small} weeks", "{2-12} weeks", "half a year", "{small} days", "three and a half months"],
    "short_span": ["{5-90} minutes", "{2-12} hours", "half an hour", "an hour and a half", "{small} minutes", "{small} hours",
                   "two and a half hours", "three quarters of an hour", "{10-59} seconds", "one hour"],
    "age_span": ["{2-100} years", "{small} years", "{2-24} months", "{small} months"],
    "price": ["{symbol}{2-950}", "{symbol}{1-99}.{00}", "{2-980} {currency}", "{small} {currency}", "{1-99},{000} {currency}",
              "{symbol}{1-99},{000}", "{2-90} million {currency}", "{symbol}{2-90} million", "{1-60}.{00} {currency}"],
    "ratio": ["{1-99} percent", "{1-99}%", "{fraction}", "{1-20}.{1-9} percent", "{1-20}.{1-9}%"],
    "version_number": ["{0-12}.{0-20}", "{0-9}.{0-30}.{0-20}", "{1-30}", "{1-9}.{0-9}-beta", "{2015-2030}.{1-12}"],
    "port_number": ["{1024-9999}", "{10000-65000}", "{80-999}"],
    "phone": ["{100-999}-{0000}", "0{10-99} {000} {000}", "+{20-99} {00} {0000}", "{0000} {0000}", "{100-999} {000} {000}"],
    "street_address": ["{2-180} {nonce} {street_kind}", "{2-99} {surname} {street_kind}", "{nonce} {street_kind} {1-90}",
                       "{2-60} Green {street_kind}"],
    "clock": ["{time}", "half past {clock_hour}", "a quarter to {clock_hour}", "a quarter past {clock_hour}",
              "{clock_hour} in the evening", "{clock_hour} in the morning", "{clock_hour} o'clock"],
    "limit_count": ["{2-99}", "{small}", "{100-999}", "{1000-9999}", "{2-40}"],
    "reason": ["because of {trouble}", "due to {trouble}", "because the {object} was {state}",
               "because {place} was cut off", "because the {profession} was ill", "because nobody had {requirement}"],
    "decision": ["to {craft_verb} the {object}", "to {craft_verb} the {quality} {object}", "to hire a second {profession}",
                 "to buy {thing_phrase}", "to sell the {vehicle_kind}", "to close {landmark}", "to postpone the talks about {issue}",
                 "to raise the fee by {1-40} percent", "to move to {place}", "to ban {forbidden}", "to order {goods_phrase}"],
    "duty": ["{craft_verb} the {object}", "write the report", "order {goods_phrase}", "call {person}",
             "{craft_verb} the {quality} {object}", "find a {profession}", "draw a map of {place}", "check the {object}",
             "book a room in {place}", "write to {organisation}"],
    "error_code": ["E{000}", "ERR-{00}", "{400-599}", "exit code {2-99}", "error {1000-9999}"],
    "score": ["{0-7}-{0-7}", "{1-9}:{0-9}", "{60-120}-{60-120}", "{0-5} to {0-5}"],
    "quoted": ['"{title}"'],
    "season_year": ["the {season} of {year}", "{month_name} {year}", "{year}", "{date}"],
    "email": ["{word}@{word}.{domain}", "{word}.{word}@{word}.{domain}", "info@{word}.{domain}"],
    "setting_default": ["{2-999}", "{2-60} seconds", "{colour}", "UTF-8", "{nonce}", "{2-64} MB", "{2-99} lines", "{small}"],
    "storage": ["{2-900} MB", "{2-64} GB", "{1-20} TB", "{2-900} KB", "{1-9}.{1-9} GB"],
    "dose": ["{small} tablets", "{5-900} mg", "{2-40} drops", "{1-30} ml", "one tablet", "half a tablet", "{small} spoonfuls"],
    "amount_food": ["{50-900} grams", "{small} spoonfuls", "{2-12} cups", "a pinch", "{100-900} ml", "half a kilo", "a handful"],
    "oven": ["{120-260} degrees", "{120-260} °C", "{300-480} °F"],
    "distance_length": ["{2-900} metres", "{1-90}.{1-9} km", "{2-300} miles", "{small} kilometres", "{2-90} kilometres"],
    "size_length": ["{2-99} cm", "{2-99} centimetres", "{1-9}.{1-9} metres", "{2-90} millimetres", "{small} inches"],
}  # fmt: skip
